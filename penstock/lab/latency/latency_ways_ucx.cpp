// What UCX takes by itself for a message between two ranks: the floors of a transport that uses it.
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/lab/latency/latency_ways.hpp"
#include "penstock/ucx/ucx.hpp"

namespace penstock::lab {
namespace {

using ucx::api;

/// A connection of ranks 0 and 1 with nothing of ours in it: no watch on peers, no order, no queue.
class Connection {
 public:
  explicit Connection(const gas::Team& team) : team_(team), worker_(2) {}

  const ucx::Worker& worker() const noexcept { return worker_; }
  ucp_ep_h endpoint() const noexcept { return endpoint_; }

  /// Collective.
  void connect() {
    const std::vector<std::byte> address = of_peer(worker_.address());
    if (team_.rank() > 1) {
      return;
    }
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    ucx::check(api().ucp_ep_create(worker_.get(), &params, &endpoint_), "ucp_ep_create");
  }

  /// Collective: what the other one of ranks 0 and 1 gives; of ranks beyond, anything.
  std::vector<std::byte> of_peer(const std::vector<std::byte>& mine) const {
    std::array<std::byte, max_card_bytes> card{};
    const std::size_t bytes = mine.size();
    if (bytes + sizeof bytes > card.size()) {
      throw Error("UCX's address is too long for the benchmark");
    }
    std::memcpy(card.data(), &bytes, sizeof bytes);
    std::memcpy(card.data() + sizeof bytes, mine.data(), bytes);
    const auto cards = team_.all_gather(card);
    const auto& theirs = cards[team_.rank() == 0 ? 1 : 0];
    std::size_t their_bytes = 0;
    std::memcpy(&their_bytes, theirs.data(), sizeof their_bytes);
    const std::byte* const first = theirs.data() + sizeof their_bytes;
    return {first, first + their_bytes};
  }

  void progress() const { api().ucp_worker_progress(worker_.get()); }

  /// Returns when what was begun has completed here.
  void finish(ucs_status_ptr_t request) const {
    if (request == nullptr) {
      return;
    }
    if (UCS_PTR_IS_ERR(request)) {
      ucx::check(UCS_PTR_STATUS(request), "an operation");
    }
    while (api().ucp_request_check_status(request) == UCS_INPROGRESS) {
      progress();
    }
    api().ucp_request_free(request);
  }

 private:
  static constexpr std::size_t max_card_bytes = 4096;

  const gas::Team& team_;
  ucx::Worker worker_;
  ucp_ep_h endpoint_ = nullptr;  // the worker's
};

/// A message whose handler counts.
class UcxMessage final : public PingPong {
 public:
  UcxMessage(const gas::Team& team, std::size_t max_bytes) : PingPong(max_bytes), connection_(team) {
    connection_.worker().handle(message_id, on_message, this);
    connection_.connect();
  }

  const char* name() const override { return "UCX message"; }
  // Longer ones are announced, and would need a place to be fetched to.
  bool serves(std::size_t bytes) const override { return bytes <= max_eager_bytes; }

 private:
  static constexpr unsigned message_id = 1;
  static constexpr std::size_t max_eager_bytes = std::size_t{32} << 10;

  static ucs_status_t on_message(void* self, const void*, std::size_t, void* data, std::size_t bytes,
                                 const ucp_am_recv_param_t*) {
    auto& way = *static_cast<UcxMessage*>(self);
    std::memcpy(way.data_.data(), data, bytes);
    ++way.arrived_;
    return UCS_OK;
  }
  void send(int) override {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_EAGER;
    connection_.finish(
        api().ucp_am_send_nbx(connection_.endpoint(), message_id, nullptr, 0, data_.data(), bytes_, &param));
  }
  void receive(int) override {
    while (arrived_ != count_) {
      connection_.progress();
    }
  }

  Connection connection_;
  std::uint64_t arrived_ = 0;
};

/// A put, a fence, a put of a flag behind it, into memory that UCX has allocated, as it wants to have it; or the put of
/// the flag alone, which is all of the message.
class UcxPut final : public PingPong {
 public:
  UcxPut(const gas::Team& team, std::size_t max_bytes, bool is_flag_alone)
      : PingPong(max_bytes),
        is_flag_alone_(is_flag_alone),
        connection_(team),
        flag_at_(round_up(max_bytes, cache_line_bytes)),
        memory_(connection_.worker().context()->get(), flag_at_ + cache_line_bytes) {
    flag().store(0);
    connection_.connect();
    const std::vector<std::byte> key =
        connection_.of_peer(connection_.worker().key_of(memory_.handle(), memory_.data()));
    if (team.rank() > 1) {
      return;
    }
    std::memcpy(&peer_address_, key.data(), sizeof peer_address_);
    ucx::check(api().ucp_ep_rkey_unpack(connection_.endpoint(), key.data() + sizeof peer_address_, &peer_key_),
               "ucp_ep_rkey_unpack");
  }
  ~UcxPut() override {
    if (peer_key_ != nullptr) {
      api().ucp_rkey_destroy(peer_key_);
    }
  }
  UcxPut(const UcxPut&) = delete;
  UcxPut& operator=(const UcxPut&) = delete;

  const char* name() const override { return is_flag_alone_ ? "UCX put" : "UCX put and flag"; }
  bool serves(std::size_t bytes) const override { return !is_flag_alone_ || bytes == sizeof count_; }

 private:
  using Flag = std::atomic<std::uint64_t>;

  class Memory {
   public:
    Memory(ucp_context_h context, std::size_t bytes) : context_(context) {
      ucp_mem_map_params_t params{};
      params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
      params.length = bytes;
      params.flags = UCP_MEM_MAP_ALLOCATE;
      ucx::check(api().ucp_mem_map(context_, &params, &handle_), "ucp_mem_map");
      ucp_mem_attr_t found{};
      found.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
      ucx::check(api().ucp_mem_query(handle_, &found), "ucp_mem_query");
      data_ = static_cast<std::byte*>(found.address);
    }
    ~Memory() { api().ucp_mem_unmap(context_, handle_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    std::byte* data() const noexcept { return data_; }
    ucp_mem_h handle() const noexcept { return handle_; }

   private:
    ucp_context_h context_;
    ucp_mem_h handle_ = nullptr;
    std::byte* data_ = nullptr;
  };

  Flag& flag() const { return *std::launder(reinterpret_cast<Flag*>(memory_.data() + flag_at_)); }
  void put(const void* data, std::size_t bytes, std::size_t offset) {
    const ucp_request_param_t param{};
    connection_.finish(
        api().ucp_put_nbx(connection_.endpoint(), data, bytes, peer_address_ + offset, peer_key_, &param));
  }
  void send(int) override {
    if (!is_flag_alone_) {
      put(data_.data(), bytes_, 0);
      ucx::check(api().ucp_worker_fence(connection_.worker().get()), "ucp_worker_fence");
    }
    put(&count_, sizeof count_, flag_at_);
  }
  void receive(int) override {
    const Flag& mine = flag();
    while (mine.load(std::memory_order_acquire) != count_) {
      connection_.progress();
    }
  }

  bool is_flag_alone_;
  Connection connection_;
  std::size_t flag_at_;
  Memory memory_;
  std::uint64_t peer_address_ = 0;
  ucp_rkey_h peer_key_ = nullptr;
};

}  // namespace

void add_ucx_ways(std::vector<std::unique_ptr<LatencyContender>>& ways, const gas::Team& team, std::size_t max_bytes) {
  ways.push_back(std::make_unique<UcxMessage>(team, max_bytes));
  ways.push_back(std::make_unique<UcxPut>(team, max_bytes, false));
  ways.push_back(std::make_unique<UcxPut>(team, max_bytes, true));
}

}  // namespace penstock::lab
