#include "penstock/gas/transport/rma/rma_network.hpp"

#include <climits>
#include <cstring>
#include <limits>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/transport/mpi/mpi_messages.hpp"

namespace penstock::gas {
namespace {

MPI_Win make_window(MPI_Comm comm) {
  MPI_Win window = MPI_WIN_NULL;
  try {
    check_mpi(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window), "MPI_Win_create_dynamic");
  } catch (const Error& error) {
    throw Error(std::string(error.what()) +
                ": this MPI has no one-sided calls for these ranks and this level of threads. Open MPI 4 has them over "
                "TCP up to MPI_THREAD_SERIALIZED, where mpirun is told --mca osc pt2pt; else use the transport 'mpi'");
  }
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  return window;
}

/// One datatype and count for any number of bytes; the types of long transfers are made, others are MPI's own.
template <class Begin>
void with_type(std::size_t bytes, const Begin& begin) {
  if (bytes <= INT_MAX) {
    begin(static_cast<int>(bytes), MPI_BYTE);
  } else {
    const ByteType type(bytes);
    begin(1, type.get());
  }
}

}  // namespace

class RmaNetwork::Memory final : public RemoteMemory {
 public:
  Memory(RmaNetwork& network, int peer, MPI_Aint base) : network_(network), peer_(peer), base_(base) {}

  void put(std::size_t offset, std::span<const std::byte> data, std::shared_ptr<Completion> source,
           std::shared_ptr<Completion> remote) override {
    begin_put(offset, data, {.done = std::move(source), .remote = std::move(remote)});
  }

  void put_then_set(std::size_t offset, std::span<const std::byte> data, RemoteMemory& words, const Word& word,
                    std::shared_ptr<Completion> source) override {
    begin_put(offset, data,
              {.done = std::move(source),
               .behind = Setting{.at = static_cast<Memory&>(words).at(word.offset), .value = word.value}});
  }

  void get(std::size_t offset, std::span<std::byte> data, std::shared_ptr<Completion> done) override {
    const std::scoped_lock lock(network_.calls_);
    MPI_Request request = MPI_REQUEST_NULL;
    with_type(data.size(), [&](int count, MPI_Datatype type) {
      check_mpi(MPI_Rget(data.data(), count, type, peer_, at(offset), count, type, network_.window_, &request),
                "MPI_Rget");
    });
    network_.busy_[peer_].transfers.push_back({.request = request, .done = std::move(done)});
  }

 private:
  void begin_put(std::size_t offset, std::span<const std::byte> data, Transfer transfer) {
    const std::scoped_lock lock(network_.calls_);
    with_type(data.size(), [&](int count, MPI_Datatype type) {
      check_mpi(MPI_Rput(data.data(), count, type, peer_, at(offset), count, type, network_.window_, &transfer.request),
                "MPI_Rput");
    });
    network_.busy_[peer_].transfers.push_back(std::move(transfer));
  }
  MPI_Aint at(std::size_t offset) const { return MPI_Aint_add(base_, static_cast<MPI_Aint>(offset)); }

  RmaNetwork& network_;
  int peer_;
  MPI_Aint base_;
};

RmaNetwork::RmaNetwork(MPI_Comm comm, std::mutex& mutex, const std::shared_ptr<PeerWatch>& watch)
    : calls_(mutex, watch), messages_(comm, mutex, watch) {
  watch->guard_calls();
  const std::scoped_lock lock(calls_);
  window_ = make_window(comm);
  // Puts are seen by the processor with no call of MPI's there, as our signals and active messages need it.
  int* model = nullptr;
  int is_set = 0;
  check_mpi(MPI_Win_get_attr(window_, MPI_WIN_MODEL, &model, &is_set), "MPI_Win_get_attr");
  if (is_set == 0 || *model != MPI_WIN_UNIFIED) {
    throw Error(
        "this MPI keeps what is put apart from what the processor sees (its memory model is not "
        "MPI_WIN_UNIFIED): use the transport 'mpi'");
  }
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
}

RmaNetwork::~RmaNetwork() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized != 0 || window_ == MPI_WIN_NULL) {
    return;
  }
  // To free a window is collective, and serves no peer. So all come first, and are served until they have; by no clock,
  // as one that gave up would leave the others in MPI_Win_free. Where a process has died the window is left to MPI.
  if (messages_.drain(std::numeric_limits<double>::infinity())) {
    const std::scoped_lock lock(calls_);
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
}

void RmaNetwork::send(int peer, const Header& header, std::span<const std::byte> payload,
                      std::shared_ptr<Completion> sent) {
  messages_.send(peer, header, payload, std::move(sent));
}

bool RmaNetwork::progress(Inbox& inbox) {
  for (auto it = busy_.begin(); it != busy_.end();) {
    const std::scoped_lock lock(calls_);
    auto& [peer, state] = *it;
    while (!state.transfers.empty() && is_complete(state.transfers.front().request)) {
      Transfer& transfer = state.transfers.front();
      transfer.done->finish();
      if (transfer.remote != nullptr) {
        state.unflushed.push_back(std::move(transfer.remote));
      }
      if (transfer.behind.has_value()) {
        state.behind.push_back(*transfer.behind);
      }
      state.transfers.pop_front();
    }
    if (!state.transfers.empty()) {
      ++it;
      continue;
    }
    flush(peer, state);
    it = busy_.erase(it);
  }
  return messages_.progress(inbox);
}

/// Of a peer to which all puts have left. MPI has no flush that does not wait; it waits for no more than the peer's
/// confirmation, once for all of them, and once for the words behind them: MPI orders nothing else between places.
void RmaNetwork::flush(int rank, Peer& peer) {
  if (peer.unflushed.empty() && peer.behind.empty()) {
    return;
  }
  check_mpi(MPI_Win_flush(rank, window_), "MPI_Win_flush");
  for (const auto& remote : peer.unflushed) {
    remote->finish();
  }
  for (const Setting& setting : peer.behind) {
    // An accumulation is whole where it is seen, which a put is not.
    check_mpi(MPI_Accumulate(&setting.value, 1, MPI_UINT64_T, rank, setting.at, 1, MPI_UINT64_T, MPI_REPLACE, window_),
              "MPI_Accumulate");
  }
  if (!peer.behind.empty()) {
    check_mpi(MPI_Win_flush(rank, window_), "MPI_Win_flush");
  }
}

std::vector<std::byte> RmaNetwork::expose(const Region& region) {
  const std::span<std::byte> memory = region.mine;
  const std::scoped_lock lock(calls_);
  // MPI libraries limit how many pieces may be attached; what is beyond is reached by messages. Open MPI 4.1 takes 64
  // by default, and waits for ever in the next call after it has refused one.
  constexpr int max_attached = 60;
  if (memory.empty() || attached_ >= max_attached ||
      MPI_Win_attach(window_, memory.data(), static_cast<MPI_Aint>(memory.size())) != MPI_SUCCESS) {
    return {};
  }
  ++attached_;
  MPI_Aint address = 0;
  check_mpi(MPI_Get_address(memory.data(), &address), "MPI_Get_address");
  std::vector<std::byte> key(sizeof address);
  std::memcpy(key.data(), &address, sizeof address);
  return key;
}

void RmaNetwork::withdraw(std::span<std::byte> memory) {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized == 0) {
    const std::scoped_lock lock(calls_);
    MPI_Win_detach(window_, memory.data());
    --attached_;
  }
}

std::shared_ptr<RemoteMemory> RmaNetwork::reach(int peer, std::span<const std::byte> key) {
  if (key.empty()) {
    return nullptr;
  }
  MPI_Aint base = 0;
  std::memcpy(&base, key.data(), sizeof base);
  return std::make_shared<Memory>(*this, peer, base);
}

}  // namespace penstock::gas
