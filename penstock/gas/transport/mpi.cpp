#include "penstock/gas/transport/mpi.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/transport/mpi_messages.hpp"
#include "penstock/gas/transport/mpi_network.hpp"
#include "penstock/gas/transport/peer_watch.hpp"
#include "penstock/gas/transport/shared_memory.hpp"

namespace penstock::gas {
namespace {

/// The highest tag that every MPI allows: channels take tags up to here.
constexpr int most_tags = 32767;

MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(comm, &copy, &request), "MPI_Comm_idup");
  wait_until([&] { return is_complete(request); });
  return copy;
}

class MpiRegion final : public Region {
 public:
  std::vector<Memory> memories;
};

class MpiTransport final : public Transport {
 public:
  /// Takes `comm` over. `nodes` gives each rank's node as far as memory may be shared: equal numbers map one another.
  MpiTransport(MPI_Comm comm, std::vector<int> nodes, std::shared_ptr<std::mutex> mutex)
      : comm_(comm), nodes_(std::move(nodes)), mutex_(std::move(mutex)) {
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    check_mpi(MPI_Query_thread(&thread_level_), "MPI_Query_thread");
    local_peers_ = static_cast<int>(std::count(nodes_.begin(), nodes_.end(), nodes_[index(rank_)]));
    const bool all_local = std::all_of(nodes_.begin(), nodes_.end(), [&](int node) { return node == nodes_.front(); });
    const bool none_local = [&] {
      std::vector<int> sorted = nodes_;
      std::sort(sorted.begin(), sorted.end());
      return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    }();
    name_ = all_local && size_ > 1 ? "shm" : none_local ? "mpi" : "shm+mpi";
  }

  ~MpiTransport() override {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (is_finalized == 0) {
      MPI_Comm_free(&comm_);
    }
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  void set_watch(std::shared_ptr<PeerWatch> watch) { watch_ = std::move(watch); }

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  std::string_view name() const noexcept override { return name_; }
  bool is_local(int peer) const noexcept override { return nodes_[index(peer)] == nodes_[index(rank_)]; }
  bool allows_threads() const noexcept override {
    return local_peers_ == size_ || thread_level_ >= MPI_THREAD_SERIALIZED;
  }

  void barrier() override {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const std::scoped_lock lock(*mutex_);
      check_mpi(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
    }
    complete(request);
  }

  void all_gather(const void* mine, std::size_t bytes, void* all) override {
    const ByteType type(bytes);
    // Through memory of our own: where waiting throws, MPI goes on with it and must keep it.
    auto buffer = std::make_unique<std::vector<std::byte>>(bytes * (index(size_) + 1));
    std::byte* const gathered = buffer->data() + bytes;
    std::memcpy(buffer->data(), mine, bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const std::scoped_lock lock(*mutex_);
      check_mpi(MPI_Iallgather(buffer->data(), 1, type.get(), gathered, 1, type.get(), comm_, &request),
                "MPI_Iallgather");
    }
    try {
      complete(request);
    } catch (...) {
      static_cast<void>(buffer.release());
      throw;
    }
    std::memcpy(all, gathered, bytes * index(size_));
  }

  std::unique_ptr<Transport> split(int color, int key) override {
    struct Member {
      int color, key, node, rank;
    };
    const Member mine{color, key, nodes_[index(rank_)], rank_};
    std::vector<Member> members(index(size_));
    all_gather(&mine, sizeof mine, members.data());
    const bool is_copy = std::all_of(members.begin(), members.end(), [&](const Member& member) {
      return member.color == color && (member.rank == 0 || member.key >= members[index(member.rank - 1)].key);
    });
    // MPI's colours are not negative, ours are any number: the first rank of a colour stands for it.
    const auto is_mine = [&](const Member& member) { return member.color == color; };
    const int mpi_color = std::find_if(members.begin(), members.end(), is_mine)->rank;
    MPI_Comm part = MPI_COMM_NULL;
    if (is_copy) {
      part = duplicate(comm_);
    } else {
      check_mpi(MPI_Comm_split(comm_, mpi_color, key, &part), "MPI_Comm_split");
    }
    members.erase(std::remove_if(members.begin(), members.end(), std::not_fn(is_mine)), members.end());
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.key < b.key; });
    std::vector<int> part_nodes;
    for (const Member& member : members) {
      part_nodes.push_back(member.node);
    }
    auto transport = std::make_unique<MpiTransport>(part, std::move(part_nodes), mutex_);
    transport->set_watch(watch_);
    return transport;
  }

  std::unique_ptr<Region> map(std::size_t bytes) override {
    std::optional<SharedMemory> shared;
    std::string failure;
    try {
      shared.emplace(bytes);
    } catch (const Error& error) {
      failure = error.what();
    }
    throw_if_any_failed(failure);
    std::vector<SharedMemoryTicket> tickets(index(size_));
    all_gather(&shared->ticket(), sizeof(SharedMemoryTicket), tickets.data());
    auto region = std::make_unique<MpiRegion>();
    try {
      for (int peer = 0; peer < size_; ++peer) {
        if (peer == rank_) {
          region->memories.push_back(shared->take_memory());
          region->mine = {region->memories.back().data(), region->memories.back().size()};
        } else {
          region->memories.push_back(is_local(peer) ? map_shared_memory(tickets[index(peer)]) : Memory());
        }
        region->at.push_back(region->memories.back().data());
      }
    } catch (const Error& error) {
      failure = error.what();
    }
    throw_if_any_failed(failure);  // also keeps every descriptor open until all peers have mapped it
    return region;
  }

  std::unique_ptr<Channel> send_channel(int peer, std::span<const std::byte> data) override {
    return std::make_unique<MpiChannel>(comm_, *mutex_, MpiChannel::Direction::send, peer, next_tag(send_tags_, peer),
                                        std::span(const_cast<std::byte*>(data.data()), data.size()));
  }

  std::unique_ptr<Channel> receive_channel(int peer, std::span<std::byte> data) override {
    return std::make_unique<MpiChannel>(comm_, *mutex_, MpiChannel::Direction::receive, peer,
                                        next_tag(receive_tags_, peer), data);
  }

  std::unique_ptr<Network> make_network() override {
    return local_peers_ == size_ ? nullptr : std::make_unique<MpiNetwork>(duplicate(comm_), *mutex_, watch_);
  }

  void check_peers() const override {
    if (watch_ != nullptr) {
      watch_->check();
    }
  }

 private:
  // Each channel between two ranks has a tag of its own: MPI keeps messages of one tag in order, but the threads of a
  // rank may send those of different exchanges in any.
  static int next_tag(std::map<int, int>& tags, int peer) { return tags[peer]++ % most_tags; }

  /// Waits for what has been started. Waiting is ours: in MPI's blocking calls a rank may spin for ever and, where
  /// ranks outnumber cores, keep the one that it waits for from running (MPICH took minutes for what takes seconds).
  void complete(MPI_Request& request) {
    wait_serving([&] {
      const std::scoped_lock lock(*mutex_);
      return is_complete(request);
    });
  }

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  void throw_if_any_failed(const std::string& failure) {
    std::array<char, 256> mine{};
    failure.copy(mine.data(), mine.size() - 1);
    std::vector<std::array<char, 256>> all(index(size_));
    all_gather(mine.data(), mine.size(), all.data());
    for (const auto& text : all) {
      if (text[0] != '\0') {
        throw Error(text.data());
      }
    }
  }

  MPI_Comm comm_;
  std::vector<int> nodes_;
  int rank_ = 0;
  int size_ = 0;
  int local_peers_ = 0;
  int thread_level_ = MPI_THREAD_SINGLE;
  std::string_view name_;
  std::shared_ptr<std::mutex> mutex_;  // serialises this rank's MPI calls between its threads, for all teams of a world
  std::shared_ptr<PeerWatch> watch_;   // of the world; none while that is being made
  std::map<int, int> send_tags_;       // by peer: the channels made so far
  std::map<int, int> receive_tags_;
};

/// Names the node that this process runs on: the system's start and the host's name, so that hosts that share a kernel
/// (containers, network namespaces with names of their own) count as different nodes.
std::size_t node_identity() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return std::hash<std::string>()(boot + name.data());
}

/// For each rank of `transport` the lowest rank of its node.
std::vector<int> find_nodes(Transport& transport) {
  const std::size_t mine = node_identity();
  std::vector<std::size_t> identities(static_cast<std::size_t>(transport.size()));
  transport.all_gather(&mine, sizeof mine, identities.data());
  std::vector<int> nodes;
  for (const std::size_t identity : identities) {
    nodes.push_back(static_cast<int>(std::find(identities.begin(), identities.end(), identity) - identities.begin()));
  }
  return nodes;
}

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm user_comm, Reach reach) {
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  if (is_initialized == 0) {
    throw Error("MPI is not initialised: call MPI_Init_thread before handing a communicator to Penstock");
  }
  int size = 0;
  check_mpi(MPI_Comm_size(user_comm, &size), "MPI_Comm_size");
  std::vector<int> own_nodes(static_cast<std::size_t>(size));
  std::iota(own_nodes.begin(), own_nodes.end(), 0);
  auto by_messages =
      std::make_unique<MpiTransport>(duplicate(user_comm), std::move(own_nodes), std::make_shared<std::mutex>());
  std::vector<int> nodes = find_nodes(*by_messages);
  const auto watch = std::make_shared<PeerWatch>(*by_messages, nodes);
  by_messages->set_watch(watch);
  if (reach == Reach::mpi) {
    return by_messages;
  }
  const bool is_one_node = std::count(nodes.begin(), nodes.end(), 0) == size;
  if (reach == Reach::shared_memory && !is_one_node) {
    throw Error(
        "the transport 'shm' reaches only ranks of one node, and these ranks run on several: use 'auto' or 'mpi'");
  }
  auto by_memory =
      std::make_unique<MpiTransport>(duplicate(user_comm), std::move(nodes), std::make_shared<std::mutex>());
  by_memory->set_watch(watch);
  try {
    by_memory->map(1);  // shows whether this system lets processes map one another's memory
  } catch (const Error&) {
    if (reach == Reach::shared_memory) {
      throw;
    }
    return by_messages;
  }
  return by_memory;
}

}  // namespace penstock::gas
