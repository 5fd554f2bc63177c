// Puts, gets and flushes.
#include <cstring>
#include <utility>

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

  void put(std::size_t offset, std::span<const std::byte> data, std::shared_ptr<Sent> source,
           std::shared_ptr<Sent> remote) override {
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
                    std::shared_ptr<Sent> source) override {
    if (!data.empty()) {
      put(begin(std::move(source)), offset, data);
    } else if (source != nullptr) {
      source->finish();
    }
    // What was put before by others of this rank is to be seen with the word as well.
    ucx::check(ucx::api().ucp_worker_fence(peer_.network->worker_->get()), "ucp_worker_fence");
    auto& behind = static_cast<Memory&>(words);
    Operation& setting = behind.begin(nullptr);
    setting.word = word.value;
    behind.put(setting, word.offset, std::as_bytes(std::span(&setting.word, 1)));
  }

  void get(std::size_t offset, std::span<std::byte> data, std::shared_ptr<Sent> done) override {
    UcxNetwork& network = *peer_.network;
    Operation& operation = begin(std::move(done));
    const ucp_request_param_t param = report_to(operation);
    network.watch(
        ucx::api().ucp_get_nbx(network.endpoint_of(peer_), data.data(), data.size(), base_ + offset, unpacked_, &param),
        operation);
  }

 private:
  Operation& begin(std::shared_ptr<Sent> sent) {
    UcxNetwork& network = *peer_.network;
    if (unpacked_ == nullptr) {
      ucx::check(ucx::api().ucp_ep_rkey_unpack(network.endpoint_of(peer_), key_.data() + sizeof base_, &unpacked_),
                 "ucp_ep_rkey_unpack");
    }
    Operation& operation = network.begin(peer_);
    operation.sent = std::move(sent);
    operation.memory = shared_from_this();
    return operation;
  }

  void put(Operation& operation, std::size_t offset, std::span<const std::byte> data) {
    UcxNetwork& network = *peer_.network;
    const ucp_request_param_t param = report_to(operation);
    network.watch(
        ucx::api().ucp_put_nbx(network.endpoint_of(peer_), data.data(), data.size(), base_ + offset, unpacked_, &param),
        operation);
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

std::vector<std::byte> UcxNetwork::expose(std::span<std::byte> memory) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory.data();
  params.length = memory.size();
  ucp_mem_h handle = nullptr;
  // Systems limit how much memory may be registered; what is beyond is reached by messages.
  if (memory.empty() || ucx::api().ucp_mem_map(worker_->context(), &params, &handle) != UCS_OK) {
    return {};
  }
  exposed_.emplace(memory.data(), handle);
  return worker_->key_of(handle, memory.data());
}

void UcxNetwork::withdraw(std::span<std::byte> memory) {
  const auto found = exposed_.find(memory.data());
  if (found != exposed_.end()) {
    ucx::api().ucp_mem_unmap(worker_->context(), found->second);
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
