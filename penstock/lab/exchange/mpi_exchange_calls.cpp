// Exchanges by MPI's all-to-all calls, as programs do without this library.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/lab/exchange/mpi_exchange_parts.hpp"

namespace penstock::lab {
namespace {

/// One side of an all-to-all call, as MPI takes it: counts and displacements of `unit` bytes each, from `base` on.
class Side {
 public:
  explicit Side(const std::vector<std::span<std::byte>>& parts) {
    for (const auto& part : parts) {
      if (!part.empty() && (base == nullptr || part.data() < base)) {
        base = part.data();
      }
    }
    // The largest unit that all are multiples of: MPI counts in 31 bits.
    std::size_t unit = 0;
    for (const auto& part : parts) {
      if (!part.empty()) {
        unit = std::gcd(std::gcd(unit, part.size()), static_cast<std::size_t>(part.data() - base));
      }
    }
    unit = std::max<std::size_t>(unit, 1);
    for (const auto& part : parts) {
      counts.push_back(count_of(part.size(), unit));
      displacements.push_back(part.empty() ? 0 : count_of(static_cast<std::size_t>(part.data() - base), unit));
    }
    check_exchange(MPI_Type_contiguous(count_of(unit), MPI_BYTE, &type), "MPI_Type_contiguous");
    check_exchange(MPI_Type_commit(&type), "MPI_Type_commit");
  }
  ~Side() {
    if (type != MPI_DATATYPE_NULL && !has_mpi_ended()) {
      MPI_Type_free(&type);
    }
  }
  Side(Side&& other) noexcept
      : base(other.base),
        counts(std::move(other.counts)),
        displacements(std::move(other.displacements)),
        type(std::exchange(other.type, MPI_DATATYPE_NULL)) {}
  Side& operator=(Side&&) = delete;

  std::byte* base = nullptr;
  std::vector<int> counts;
  std::vector<int> displacements;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

class ByCalls final : public gas::ExchangeBackend {
 public:
  ByCalls(const gas::Team& team, const gas::Segment& segment, const std::vector<gas::Outgoing>& outgoing,
          const std::vector<gas::Incoming>& incoming, MPI_Comm world, bool is_blocking)
      : offsets_(offsets_of(outgoing)),
        buffer_(take_memory(team, offsets_.back())),
        is_blocking_(is_blocking),
        call_of_outgoing_(numbers_of(outgoing)),
        call_of_incoming_(numbers_of(incoming)),
        comm_(team, world) {
    std::size_t mine = 0;
    for (const auto& calls : {call_of_outgoing_, call_of_incoming_}) {
      for (const std::size_t call : calls) {
        mine = std::max(mine, call + 1);
      }
    }
    const std::size_t count = team.largest(mine);
    using Parts = std::vector<std::vector<std::span<std::byte>>>;  // by call and peer
    Parts sent(count, std::vector<std::span<std::byte>>(static_cast<std::size_t>(team.size())));
    Parts received = sent;
    messages_of_call_.resize(count);
    for (std::size_t i = 0; i < outgoing.size(); ++i) {
      sent[call_of_outgoing_[i]][static_cast<std::size_t>(outgoing[i].peer)] = {buffer_.data() + offsets_[i],
                                                                                outgoing[i].bytes};
      ++messages_of_call_[call_of_outgoing_[i]];
    }
    for (std::size_t i = 0; i < incoming.size(); ++i) {
      received[call_of_incoming_[i]][static_cast<std::size_t>(incoming[i].peer)] =
          segment.local().subspan(incoming[i].offset, incoming[i].bytes);
    }
    team.together([&] {
      comm_.in_turn([&] {
        for (std::size_t call = 0; call < count; ++call) {
          calls_.push_back({.sent = Side(sent[call]), .received = Side(received[call])});
        }
      });
    });
  }

  void open() override {
    const std::scoped_lock lock(mutex_);
    unsent_ = messages_of_call_;
    begun_ = 0;
    done_ = 0;
  }
  bool is_open(std::size_t /*message*/) override { return true; }
  std::byte* destination(std::size_t message) override { return buffer_.data() + offsets_[message]; }
  void send(std::size_t message) override {
    const std::scoped_lock lock(mutex_);
    --unsent_[call_of_outgoing_[message]];
    advance();
  }
  bool has_arrived(std::size_t message) override {
    const std::scoped_lock lock(mutex_);
    advance();
    return call_of_incoming_[message] < done_;
  }
  void progress() override {
    const std::scoped_lock lock(mutex_);
    advance();
  }
  bool has_finished() override {
    const std::scoped_lock lock(mutex_);
    advance();
    return done_ == calls_.size();
  }
  bool needs_progress() const noexcept override { return false; }

 private:
  struct Call {
    Side sent;
    Side received;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  // All ranks must make their calls in the same order. Nothing begins in `open`: a rank that has nothing to send in
  // this exchange may still have to send in one before, which a blocking call would keep it from.
  void advance() {
    while (begun_ < calls_.size() && unsent_[begun_] == 0) {
      start(calls_[begun_++]);
    }
    while (done_ < begun_ && comm_.is_done(calls_[done_].request)) {
      ++done_;
    }
  }
  void start(Call& call) {
    const auto& [sent, received, request] = call;
    comm_.in_turn([&] {
      if (is_blocking_) {
        check_exchange(MPI_Alltoallv(sent.base, sent.counts.data(), sent.displacements.data(), sent.type, received.base,
                                     received.counts.data(), received.displacements.data(), received.type, comm_.get()),
                       "MPI_Alltoallv");
      } else {
        check_exchange(MPI_Ialltoallv(sent.base, sent.counts.data(), sent.displacements.data(), sent.type,
                                      received.base, received.counts.data(), received.displacements.data(),
                                      received.type, comm_.get(), &call.request),
                       "MPI_Ialltoallv");
      }
    });
  }

  std::vector<std::size_t> offsets_;  // by outgoing message
  Memory buffer_;
  bool is_blocking_;
  std::vector<std::size_t> call_of_outgoing_;
  std::vector<std::size_t> call_of_incoming_;
  Communicator comm_;
  std::vector<std::size_t> messages_of_call_;
  std::vector<Call> calls_;
  std::mutex mutex_;
  std::vector<std::size_t> unsent_;  // by call, in this round
  std::size_t begun_ = 0;            // calls of this round
  std::size_t done_ = 0;
};

}  // namespace

std::unique_ptr<gas::ExchangeBackend> exchange_by_mpi_calls(const gas::Team& team, const gas::Segment& segment,
                                                            const std::vector<gas::Outgoing>& outgoing,
                                                            const std::vector<gas::Incoming>& incoming, MPI_Comm world,
                                                            bool is_blocking) {
  return std::make_unique<ByCalls>(team, segment, outgoing, incoming, world, is_blocking);
}

}  // namespace penstock::lab
