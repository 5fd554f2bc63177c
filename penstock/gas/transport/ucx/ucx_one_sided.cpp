// Puts, gets and flushes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/transport/ucx/ucx_network_parts.hpp"

namespace penstock::gas {

ucp_request_param_t UcxNetwork::report_to(Operation& operation) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = on_end;
  param.user_data = &operation;
  return param;
}

class UcxNetwork::Memory final : public RemoteMemory, public std::enable_shared_from_this<Memory> {
 public:
  /// `key`: the address at which the peer has it, then what UCX packed.
  Memory(Peer& peer, std::vector<std::byte> key) : peer_(peer), key_(std::move(key)) {
    std::memcpy(&base_, key_.data(), sizeof base_);
  }
  ~Memory() override {
    if (unpacked_ != nullptr) {
      ucx::api().ucp_rkey_destroy(unpacked_);
    }
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void put(std::size_t offset, std::span<const std::byte> data, std::shared_ptr<Completion> source,
           std::shared_ptr<Completion> remote) override {
    UcxNetwork& network = *peer_.network;
    put(begin(std::move(source)), offset, data);
    if (remote == nullptr) {
      return;
    }
    peer_.unflushed.push_back(std::move(remote));
    if (!peer_.is_flushing) {
      network.flush(peer_);
    } else if (peer_.unflushed.size() == 1) {
      network.with_puts_.push_back(&peer_);
    }
  }

  void put_then_set(std::size_t offset, std::span<const std::byte> data, RemoteMemory& words, const Word& word,
                    std::shared_ptr<Completion> source) override {
    if (!data.empty()) {
      put(begin(std::move(source)), offset, data);
    } else if (source != nullptr) {
      source->finish();
    }
    // What was put before by others of this rank is to be seen with the word as well.
    ucx::check(ucx::api().ucp_worker_fence(peer_.network->worker_->get()), "ucp_worker_fence");
    auto& behind = static_cast<Memory&>(words);
    behind.put(behind.begin(nullptr), word.offset, std::as_bytes(std::span(&word.value, 1)));
  }

  void get(std::size_t offset, std::span<std::byte> data, std::shared_ptr<Completion> done) override {
    UcxNetwork& network = *peer_.network;
    Operation& operation = begin(std::move(done));
    const ucp_request_param_t param = report_to(operation);
    keep(operation, ucx::api().ucp_get_nbx(network.endpoint_of(peer_), data.data(), data.size(), base_ + offset,
                                           unpacked_, &param));
  }

 private:
  Operation& begin(std::shared_ptr<Completion> sent) {
    UcxNetwork& network = *peer_.network;
    if (unpacked_ == nullptr) {
      ucx::check(ucx::api().ucp_ep_rkey_unpack(network.endpoint_of(peer_), key_.data() + sizeof base_, &unpacked_),
                 "ucp_ep_rkey_unpack");
    }
    Operation& operation = network.begin(peer_);
    operation.sent = std::move(sent);
    return operation;
  }

  void put(Operation& operation, std::size_t offset, std::span<const std::byte> data) {
    UcxNetwork& network = *peer_.network;
    const std::byte* from = data.data();
    if (data.size() <= operation.copy.size()) {
      std::ranges::copy(data, operation.copy.begin());
      from = operation.copy.data();
      if (const auto sent = std::move(operation.sent); sent != nullptr) {
        sent->finish();
      }
    }
    const ucp_request_param_t param = report_to(operation);
    keep(operation,
         ucx::api().ucp_put_nbx(network.endpoint_of(peer_), from, data.size(), base_ + offset, unpacked_, &param));
  }

  /// What is under way keeps the key that it goes by.
  void keep(Operation& operation, ucs_status_ptr_t request) {
    if (peer_.network->watch(request, operation)) {
      operation.memory = shared_from_this();
    }
  }

  Peer& peer_;
  std::vector<std::byte> key_;
  std::uint64_t base_ = 0;
  ucp_rkey_h unpacked_ = nullptr;  // at the first use, as it takes the connection
};

/// Begins to learn that all puts so far have arrived.
void UcxNetwork::flush(Peer& peer) {
  peer.is_flushing = true;
  Operation& operation = begin(peer);
  operation.flushed = std::exchange(peer.unflushed, {});
  const ucp_request_param_t param = report_to(operation);
  watch(ucx::api().ucp_ep_flush_nbx(endpoint_of(peer), &param), operation);
}

/// Puts that were begun during a flush wait for the next one, together.
void UcxNetwork::flush_all() {
  std::erase_if(with_puts_, [this](Peer* peer) {
    if (peer->is_flushing) {
      return false;
    }
    flush(*peer);
    return true;
  });
}

/// Memory that UCX maps between processes: a put into it is a copy, where other memory takes a call of the system. A
/// region of no bytes has no handle.
class UcxNetwork::Allocated final : public Region {
 public:
  /// Throws Error where UCX gives no memory.
  Allocated(std::shared_ptr<const ucx::Context> context, std::size_t bytes) : context_(std::move(context)) {
    if (bytes == 0) {
      return;
    }
    // UCX unmaps the pages. They must not be unmapped a second time: between the two, a thread of UCX may have been
    // given the same addresses. So they are released before UCX may have done so, also where it then gives no memory.
    const std::span<std::byte> pages = AddressRange(bytes).release();
    ucp_mem_map_params_t params{};
    params.field_mask =
        UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.address = pages.data();
    params.length = bytes;
    params.flags = UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED;
    ucx::check(ucx::api().ucp_mem_map(context_->get(), &params, &handle_),
               fmt::format("ucp_mem_map of {} that processes of this host map", format_bytes(bytes)).c_str());
    mine = pages.first(bytes);
    touch(pages);
  }
  ~Allocated() override {
    if (handle_ != nullptr) {
      ucx::api().ucp_mem_unmap(context_->get(), handle_);
    }
  }
  Allocated(const Allocated&) = delete;
  Allocated& operator=(const Allocated&) = delete;

  ucp_mem_h handle() const noexcept { return handle_; }

 private:
  std::shared_ptr<const ucx::Context> context_;
  ucp_mem_h handle_ = nullptr;
};

std::unique_ptr<Region> UcxNetwork::allocate(std::size_t bytes) {
  return std::make_unique<Allocated>(worker_->context(), bytes);
}

std::vector<std::byte> UcxNetwork::expose(const Region& region) {
  const std::span<std::byte> memory = region.mine;
  if (const auto* const allocated = dynamic_cast<const Allocated*>(&region); allocated != nullptr && !memory.empty()) {
    return worker_->key_of(allocated->handle(), memory.data());
  }
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory.data();
  params.length = memory.size();
  ucp_mem_h handle = nullptr;
  // Systems limit how much memory may be registered; what is beyond is reached by messages.
  if (memory.empty() || ucx::api().ucp_mem_map(worker_->context()->get(), &params, &handle) != UCS_OK) {
    return {};
  }
  exposed_.emplace(memory.data(), handle);
  return worker_->key_of(handle, memory.data());
}

void UcxNetwork::withdraw(std::span<std::byte> memory) {
  const auto found = exposed_.find(memory.data());
  if (found != exposed_.end()) {
    ucx::api().ucp_mem_unmap(worker_->context()->get(), found->second);
    exposed_.erase(found);
  }
}

std::shared_ptr<RemoteMemory> UcxNetwork::reach(int peer, std::span<const std::byte> key) {
  if (key.empty()) {
    return nullptr;
  }
  return std::make_shared<Memory>(peers_[static_cast<std::size_t>(peer)], std::vector(key.begin(), key.end()));
}

}  // namespace penstock::gas
