#include "penstock/gas/transport/mpi/mpi_transport.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/shared_memory.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "penstock/gas/transport/mpi/mpi_messages.hpp"
#include "penstock/gas/transport/networks.hpp"

namespace penstock::gas {
namespace {

/// The highest tag that every MPI allows: channels take tags up to here.
constexpr int max_tags = 32767;

class MpiRegion final : public Region {
 public:
  /// The memory of `rank`, of `size` ranks.
  void add(int rank, int size, Memory memory) {
    at.resize(index(size));
    at[index(rank)] = memory.data();
    memories.push_back(std::move(memory));
  }
  std::vector<Memory> memories;
};

class MpiTransport final : public Transport {
 public:
  /// Takes `comm` over. `nodes` gives each rank's node as far as memory may be shared: equal numbers map one another.
  /// `network` carries what goes to the others.
  MpiTransport(MPI_Comm comm, std::vector<int> nodes, NetworkKind network, std::shared_ptr<std::mutex> mutex,
               std::shared_ptr<PeerWatch> watch)
      : comm_(comm), nodes_(std::move(nodes)), network_(network), mutex_(std::move(mutex)), watch_(std::move(watch)) {
    const std::scoped_lock lock(*mutex_);
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    check_mpi(MPI_Query_thread(&thread_level_), "MPI_Query_thread");
    local_peers_ = static_cast<int>(std::count(nodes_.begin(), nodes_.end(), nodes_[index(rank_)]));
    std::vector<int> sorted = nodes_;
    std::sort(sorted.begin(), sorted.end());
    maps_any_ = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    name_network();
  }

  ~MpiTransport() override {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    // What is under way over an abandoned communicator may still arrive: MPI would take it for a message of the next
    // one that gets its number.
    if (is_finalized == 0 && !is_abandoned_) {
      const std::scoped_lock lock(*mutex_);
      MPI_Comm_free(&comm_);
    }
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  TransportTraits traits() const override { return {.name = name_, .maps_memory = maps_any_, .network = {}}; }
  bool is_local(int peer) const noexcept override { return nodes_[index(peer)] == nodes_[index(rank_)]; }
  bool allows_threads() const noexcept override { return spans_one_node() || thread_level_ >= MPI_THREAD_SERIALIZED; }

  void barrier() override {
    if constexpr (is_simulated) {
      gather_by_doubling(nullptr, 0, nullptr);
      return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const std::scoped_lock lock(*mutex_);
      check_mpi(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
    }
    complete(request);
  }

  void all_gather(const void* mine, std::size_t bytes, void* all) override {
    if constexpr (is_simulated) {
      gather_by_doubling(mine, bytes, static_cast<std::byte*>(all));
      return;
    }
    // Through memory of our own: where waiting throws, MPI goes on with it and must keep it.
    auto buffer = std::make_unique<std::vector<std::byte>>(bytes * (index(size_) + 1));
    std::byte* const gathered = buffer->data() + bytes;
    std::memcpy(buffer->data(), mine, bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const std::scoped_lock lock(*mutex_);
      const ByteType type(bytes);
      check_mpi(
          MPI_Iallgather(buffer->data(), type.count(), type.get(), gathered, type.count(), type.get(), comm_, &request),
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
      part = duplicate(comm_, *mutex_);
    } else {
      const std::scoped_lock lock(*mutex_);
      check_mpi(MPI_Comm_split(comm_, mpi_color, key, &part), "MPI_Comm_split");
    }
    members.erase(std::remove_if(members.begin(), members.end(), std::not_fn(is_mine)), members.end());
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.key < b.key; });
    std::vector<int> part_nodes;
    for (const Member& member : members) {
      part_nodes.push_back(member.node);
    }
    return std::make_unique<MpiTransport>(part, std::move(part_nodes), network_, mutex_, watch_);
  }

  std::unique_ptr<Region> map(std::size_t bytes) override { return maps_any_ ? map_shared(bytes) : map_own(bytes); }

  std::unique_ptr<Channel> send_channel(int peer, std::span<const std::byte> data, std::size_t piece_bytes) override {
    return std::make_unique<MpiChannel>(comm_, *mutex_, MpiChannel::Direction::send, peer, next_tag(send_tags_, peer),
                                        std::span(const_cast<std::byte*>(data.data()), data.size()), piece_bytes);
  }

  std::unique_ptr<Channel> receive_channel(int peer, std::span<std::byte> data, std::size_t piece_bytes) override {
    return std::make_unique<MpiChannel>(comm_, *mutex_, MpiChannel::Direction::receive, peer,
                                        next_tag(receive_tags_, peer), data, piece_bytes);
  }

  void under_mpi_lock(const std::function<void()>& work) override {
    const std::scoped_lock lock(*mutex_);
    work();
  }

  std::unique_ptr<Network> make_network() override {
    if (spans_one_node()) {
      return nullptr;
    }
    MadeNetwork made = make_network_of(network_, comm_, *mutex_, *this, watch_);
    network_ = made.kind;
    name_network();
    return std::move(made.network);
  }

  void abandon() noexcept override { is_abandoned_ = true; }

  void check_peers() const override { watch_->check(); }
  void check_peers_now() const override { watch_->check_now(); }

  // MPI's own rules have it go on by itself, but Open MPI and MPICH do so within their calls alone.
  void let_mpi_go_on() const override {
    int is_main = 0;
    if (thread_level_ < MPI_THREAD_SERIALIZED) {
      check_mpi(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
    }
    const std::unique_lock lock(*mutex_, std::try_to_lock);
    if (lock.owns_lock() && (thread_level_ >= MPI_THREAD_SERIALIZED || is_main != 0)) {
      int is_there = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, max_tags, comm_, &is_there, MPI_STATUS_IGNORE);  // what fails is told by who asked
    }
  }

 private:
  /// As all_gather, in log2 P rounds: after each a rank has the parts of twice as many, its own first (Bruck et al.
  /// 1997). The simulator's own split-phase calls send a message from each rank to all, and every message is work.
  void gather_by_doubling(const void* mine, std::size_t bytes, std::byte* all) {
    std::vector<std::byte> parts(bytes * index(size_));
    if (bytes > 0) {
      std::memcpy(parts.data(), mine, bytes);
    }
    for (int have = 1; have < size_; have *= 2) {
      const ByteType type(bytes * index(std::min(have, size_ - have)));
      std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      check_mpi(MPI_Irecv(parts.data() + bytes * index(have), type.count(), type.get(), (rank_ + have) % size_,
                          max_tags, comm_, &requests[0]),
                "MPI_Irecv");
      check_mpi(MPI_Isend(parts.data(), type.count(), type.get(), (rank_ - have + size_) % size_, max_tags, comm_,
                          &requests[1]),
                "MPI_Isend");
      complete(requests[0]);
      complete(requests[1]);
    }
    for (int i = 0; i < size_ && bytes > 0; ++i) {
      std::memcpy(all + bytes * index((rank_ + i) % size_), parts.data() + bytes * index(i), bytes);
    }
  }

  std::unique_ptr<Region> map_own(std::size_t bytes) {
    auto region = std::make_unique<MpiRegion>();
    on_all(*this, [&] { region->add(rank_, size_, Memory(bytes)); });
    region->mine = {region->at[index(rank_)], bytes};
    return region;
  }

  std::unique_ptr<Region> map_shared(std::size_t bytes) {
    std::optional<SharedMemory> shared;
    on_all(*this, [&] { shared.emplace(bytes); });
    std::vector<SharedMemoryTicket> tickets(index(size_));
    all_gather(&shared->ticket(), sizeof(SharedMemoryTicket), tickets.data());
    auto region = std::make_unique<MpiRegion>();
    // Meeting at the end also keeps every descriptor open until all peers have mapped it.
    on_all(*this, [&] {
      region->add(rank_, size_, shared->take_memory());
      for (int peer = 0; peer < size_; ++peer) {
        if (peer != rank_ && is_local(peer)) {
          region->add(peer, size_, map_shared_memory(tickets[index(peer)]));
        }
      }
    });
    region->mine = {region->at[index(rank_)], region->memories.front().size()};
    return region;
  }

  // Each channel between two ranks has a tag of its own: MPI keeps messages of one tag in order, but the threads of a
  // rank may send those of different exchanges in any.
  static int next_tag(std::map<int, int>& tags, int peer) { return tags[peer]++ % max_tags; }

  /// Waits for what has been started. Waiting is ours: in MPI's blocking calls a rank may spin for ever and, where
  /// ranks outnumber cores, keep the one that it waits for from running (MPICH took minutes for what takes seconds).
  void complete(MPI_Request& request) {
    try {
      wait_serving([&] {
        const std::scoped_lock lock(*mutex_);
        return is_complete(request);
      });
    } catch (...) {
      is_abandoned_ = true;
      throw;
    }
    count_completed();
  }

  bool spans_one_node() const { return local_peers_ == size_; }

  void name_network() {
    const bool needs_none = network_ == NetworkKind::automatic || network_ == NetworkKind::none;
    if (spans_one_node() && (maps_any_ || needs_none)) {
      name_ = "shm";
    } else {
      name_ = (maps_any_ ? "shm+" : "") + std::string(network_name(network_));
    }
  }

  MPI_Comm comm_;
  std::vector<int> nodes_;
  int rank_ = 0;
  int size_ = 0;
  int local_peers_ = 0;
  bool maps_any_ = false;
  int thread_level_ = MPI_THREAD_SINGLE;
  NetworkKind network_;
  std::string name_;
  bool is_abandoned_ = false;
  std::shared_ptr<std::mutex> mutex_;  // serialises this rank's MPI calls between its threads, for all teams of a world
  std::shared_ptr<PeerWatch> watch_;   // of the world
  std::map<int, int> send_tags_;       // by peer: the channels made so far
  std::map<int, int> receive_tags_;
};

}  // namespace

std::unique_ptr<Transport> make_transport_over(MPI_Comm comm, std::vector<int> nodes, NetworkKind network,
                                               std::shared_ptr<PeerWatch> watch) {
  auto mutex = std::make_shared<std::mutex>();
  const MPI_Comm own = duplicate(comm, *mutex);
  return std::make_unique<MpiTransport>(own, std::move(nodes), network, std::move(mutex), std::move(watch));
}

}  // namespace penstock::gas
