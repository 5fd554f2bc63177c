#include "penstock/interpose/node_exchange.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <numeric>

#include "penstock/base/clock.hpp"
#include "penstock/base/shared_memory.hpp"
#include "penstock/base/wait.hpp"
#include "penstock/interpose/library.hpp"
#include "penstock/interpose/packed_side.hpp"

namespace penstock::interpose {
namespace {

// Marks a communicator without an exchange.
char none;

std::int64_t second_level_cache_bytes() {
  constexpr long usual = 1 << 20;
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : usual;
}

/// A ring fills half of a second-level cache: what it holds and what passes by it stay there.
std::int64_t bytes_of_slot(int slots) {
  const std::int64_t bytes = second_level_cache_bytes() / 2 / slots;
  return std::clamp<std::int64_t>(bytes / small_page_bytes * small_page_bytes, 8 * small_page_bytes,
                                  64 * small_page_bytes);
}

bool are_all_seen(MPI_Comm comm, int ranks) {
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  std::vector<int> numbers(static_cast<std::size_t>(ranks));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int> world_numbers(numbers.size(), MPI_UNDEFINED);
  PMPI_Comm_group(comm, &members);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(members, ranks, numbers.data(), world, world_numbers.data());
  PMPI_Group_free(&members);
  PMPI_Group_free(&world);
  const Presence& presence = Library::get().presence;
  return std::ranges::all_of(world_numbers,
                             [&](int number) { return number != MPI_UNDEFINED && presence.sees(number); });
}

/// MPI goes on while this rank waits within a call of MPI's.
void let_mpi_progress() noexcept {
  int flag = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

template <class Condition>
void wait_for(Condition is_done) {
  for (Backoff backoff; !is_done();) {
    backoff.pause();
    let_mpi_progress();
  }
}

int forget(MPI_Comm, int, void* value, void*) {
  if (value != &none) {
    delete static_cast<NodeExchange*>(value);
  }
  return MPI_SUCCESS;
}

}  // namespace

int NodeExchange::keyval() noexcept {
  static const int made = [] {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr);
    return key;
  }();
  return made;
}

NodeExchange* NodeExchange::of(MPI_Comm comm) noexcept {
  void* value = nullptr;
  int is_set = 0;
  if (keyval() == MPI_KEYVAL_INVALID || PMPI_Comm_get_attr(comm, keyval(), &value, &is_set) != MPI_SUCCESS) {
    return nullptr;
  }
  if (is_set == 0) {
    NodeExchange* made = make(comm);
    value = made != nullptr ? static_cast<void*>(made) : &none;
    PMPI_Comm_set_attr(comm, keyval(), value);
  }
  return value != &none ? static_cast<NodeExchange*>(value) : nullptr;
}

NodeExchange* NodeExchange::make(MPI_Comm comm) {
  std::unique_ptr<NodeExchange> made(new NodeExchange(comm));
  if (made->ranks_ == 1) {
    return made.release();
  }
  if (!are_all_seen(comm, made->ranks_)) {
    return nullptr;
  }
  int is_shared = made->share_memory() ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &is_shared, 1, MPI_INT, MPI_MIN, comm);
  return is_shared != 0 ? made.release() : nullptr;
}

NodeExchange::NodeExchange(MPI_Comm comm) noexcept : comm_(comm), rank_(rank_in(comm)), ranks_(size_of(comm)) {}

/// Whether the memories of all ranks are mapped. Collective.
bool NodeExchange::share_memory() {
  struct Offer {
    SharedMemoryTicket memory;
    std::int64_t slot_bytes = 0;  // 0: no memory
  };
  std::vector<Offer> offers(static_cast<std::size_t>(ranks_));
  Offer& mine = offers[static_cast<std::size_t>(rank_)];
  std::optional<SharedMemory> memory;
  try {
    const std::int64_t slot_bytes = bytes_of_slot(slots);
    const auto lines = 2 * sizeof(Word) + offers.size() * sizeof(Word) + slots * sizeof(Slot);
    memory.emplace(lines + static_cast<std::size_t>(slots * slot_bytes));
    mine = {memory->ticket(), slot_bytes};
  } catch (const std::exception&) {
    mine = {};
  }
  PMPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, offers.data(), sizeof(Offer), MPI_BYTE, comm_);
  bool are_mapped = true;
  try {
    shared_.reserve(offers.size());
    for (const Offer& offer : offers) {
      are_mapped = are_mapped && offer.slot_bytes > 0;
      if (are_mapped) {
        shared_.emplace_back(&offer == &mine ? memory->take_memory() : map_shared_memory(offer.memory), ranks_,
                             offer.slot_bytes);
      }
    }
  } catch (const std::exception&) {
    are_mapped = false;
  }
  PMPI_Barrier(comm_);  // until then others may still look for this rank's memory
  return are_mapped;
}

NodeExchange::Shared::Shared(Memory mapped, int ranks, std::int64_t bytes_of_slot) noexcept
    : memory(std::move(mapped)),
      votes(reinterpret_cast<Word*>(memory.data())),
      begins(votes + 2),
      slots(reinterpret_cast<Slot*>(begins + ranks)),
      data(reinterpret_cast<std::byte*>(slots + NodeExchange::slots)),
      slot_bytes(bytes_of_slot) {}

bool NodeExchange::Served::is_again(const WSide<int>& from, const WSide<int>& to,
                                    std::uint64_t of_types) const noexcept {
  const std::size_t ranks = datatypes.size() / 2;
  const auto are = [&](const auto& held, std::size_t place, const auto* given) {
    return std::equal(given, given + ranks, held.begin() + static_cast<std::ptrdiff_t>(place * ranks));
  };
  return types_generation == of_types && are(datatypes, 0, from.datatypes) && are(datatypes, 1, to.datatypes) &&
         are(numbers, 0, from.counts) && are(numbers, 1, to.counts) && are(numbers, 2, from.displacements) &&
         are(numbers, 3, to.displacements);
}

/// The movers of a call; nullptr where MPI may have to complain of an argument. Valid until the next call.
const NodeExchange::Movers* NodeExchange::find_movers(const WSide<int>& from, const WSide<int>& to) noexcept {
  if (from.buffer == to.buffer || !from.has_arguments() || !to.has_arguments()) {
    return nullptr;
  }
  const std::uint64_t generation = Library::get().types.generation();
  const bool is_bottom = from.buffer == MPI_BOTTOM || to.buffer == MPI_BOTTOM;
  for (Served& served : served_) {
    if (!is_bottom && served.is_again(from, to, generation)) {
      return &served.movers;
    }
  }
  try {
    Served served;
    served.movers = make_movers(from, to);
    for (const WSide<int>* const side : {&from, &to}) {
      served.datatypes.insert(served.datatypes.end(), side->datatypes, side->datatypes + ranks_);
    }
    for (const int* const given : {from.counts, to.counts, from.displacements, to.displacements}) {
      served.numbers.insert(served.numbers.end(), given, given + ranks_);
    }
    served.types_generation = generation;
    Served& place = served_[next_served_++ % served_.size()];
    place = std::move(served);
    return &place.movers;
  } catch (const std::exception&) {
    return nullptr;
  }
}

NodeExchange::Movers NodeExchange::make_movers(const WSide<int>& from, const WSide<int>& to) const {
  const auto part_of = [](const WSide<int>& side, int rank) {
    return elements_of(side.at(rank), side.counts[rank], side.datatypes[rank]).value();
  };
  const auto packed = [](const layout::Layout& elements) { return layout::Layout::contiguous(elements.bytes()); };
  std::int64_t all_received = 0;
  std::vector<layout::Layout> destinations;
  for (int rank = 0; rank < ranks_; ++rank) {
    destinations.push_back(part_of(to, rank));
    all_received += destinations.back().bytes();
  }
  // What is much larger than the cache of a core is not read from there soon.
  const mover::Hint hint = all_received > 4 * second_level_cache_bytes() ? mover::Hint::streaming : mover::Hint::reuse;
  TypeTable& types = Library::get().types;
  Movers movers;
  movers.own = types.mover(part_of(from, rank_), destinations[static_cast<std::size_t>(rank_)], hint);
  for (int step = 1; step < ranks_; ++step) {
    const layout::Layout origin = part_of(from, target_of(step));
    const layout::Layout& destination = destinations[static_cast<std::size_t>(source_of(step))];
    movers.to_slots.push_back(types.mover(origin, packed(origin), mover::Hint::from_memory));
    movers.from_slots.push_back(types.mover(packed(destination), destination, hint));
  }
  return movers;
}

/// What all ranks do with the call. Collective; counts the calls.
NodeExchange::Decision NodeExchange::decide(bool can_serve) noexcept {
  constexpr std::uint64_t can = 1;
  constexpr std::uint64_t has_stats = 2;
  ++call_;
  const std::uint64_t mine = (can_serve ? can : 0) | (Library::get().mode == Mode::stats ? has_stats : 0);
  std::uint64_t all = mine;
  if (ranks_ > 1) {
    const auto turn = call_ % 2;
    shared_[static_cast<std::size_t>(rank_)].votes[turn].value.store(4 * call_ + mine, std::memory_order_release);
    for (const Shared& shared : shared_) {
      const std::atomic<std::uint64_t>& vote = shared.votes[turn].value;
      wait_for([&] { return vote.load(std::memory_order_acquire) / 4 == call_; });
      all &= vote.load(std::memory_order_relaxed);
    }
  }
  if ((all & can) == 0) {
    return Decision::leave_to_mpi;
  }
  return (all & has_stats) != 0 && Tally::is_sample_due(static_cast<std::int64_t>(call_)) ? Decision::sample
                                                                                          : Decision::serve;
}

/// One exchange on its way: what was sent, received and moved so far.
class NodeExchange::Flow {
 public:
  Flow(NodeExchange& exchange, const Movers& movers, const WSide<int>& from, const WSide<int>& to) noexcept
      : exchange_(exchange),
        movers_(movers),
        from_(from),
        to_(to),
        mine_(exchange.ranks_ > 1 ? &exchange.shared_[static_cast<std::size_t>(exchange.rank_)] : nullptr),
        own_piece_(mine_ != nullptr ? mine_->slot_bytes : movers.own.bytes()) {}

  void run() noexcept {
    for (Backoff backoff; !is_done();) {
      const bool has_moved = send() | receive();
      if (has_moved || move_own()) {
        backoff = {};
      } else {
        backoff.pause();
        let_mpi_progress();
      }
    }
    mover::finish_streaming();
  }
  /// Whether a peer sent more than this rank has room for.
  bool is_truncated() const noexcept { return is_truncated_; }

 private:
  bool is_done() const noexcept {
    return send_step_ == exchange_.ranks_ && receive_step_ == exchange_.ranks_ && own_bytes_ == movers_.own.bytes();
  }

  /// Fills a slot for the receiver of this step. False where there is nothing to do now.
  bool send() noexcept {
    if (send_step_ == exchange_.ranks_) {
      return false;
    }
    const Turn turn(exchange_.turn_);
    Slot& slot = mine_->slots[turn.slot];
    if (slot.state.load(std::memory_order_acquire) != turn.empty) {
      return false;
    }
    const int target = exchange_.target_of(send_step_);
    const mover::Mover& move = movers_.to_slots[static_cast<std::size_t>(send_step_ - 1)];
    const std::int64_t first = sent_bytes_;
    const std::int64_t last = std::min(move.bytes(), first + mine_->slot_bytes);
    move.move_part(from_.at(target), mine_->data + turn.slot * mine_->slot_bytes - first, first, last);
    slot.bytes = last - first;
    slot.is_last = last == move.bytes();
    slot.state.store(turn.filled, std::memory_order_release);
    if (first == 0) {
      Word& begin = mine_->begins[target];
      begin.argument = exchange_.turn_;
      begin.value.store(exchange_.call_, std::memory_order_release);
    }
    ++exchange_.turn_;
    sent_bytes_ = slot.is_last ? 0 : last;
    send_step_ += slot.is_last ? 1 : 0;
    return true;
  }

  /// Empties a slot of this step's sender. False where there is nothing to do now.
  bool receive() noexcept {
    if (receive_step_ == exchange_.ranks_) {
      return false;
    }
    const int source = exchange_.source_of(receive_step_);
    const Shared& sender = exchange_.shared_[static_cast<std::size_t>(source)];
    if (!has_begun_) {
      const Word& begin = sender.begins[exchange_.rank_];
      if (begin.value.load(std::memory_order_acquire) != exchange_.call_) {
        return false;
      }
      senders_turn_ = begin.argument;
      has_begun_ = true;
    }
    const Turn turn(senders_turn_);
    Slot& slot = sender.slots[turn.slot];
    if (slot.state.load(std::memory_order_acquire) != turn.filled) {
      return false;
    }
    const mover::Mover& move = movers_.from_slots[static_cast<std::size_t>(receive_step_ - 1)];
    const std::int64_t first = received_bytes_;
    const std::int64_t last = std::min(move.bytes(), first + slot.bytes);
    is_truncated_ = is_truncated_ || last < first + slot.bytes;
    move.move_part(sender.data + turn.slot * sender.slot_bytes - first, to_.at(source), first, last);
    const bool is_last = slot.is_last;
    slot.state.store(turn.empty + 2, std::memory_order_release);
    ++senders_turn_;
    received_bytes_ = is_last ? 0 : last;
    receive_step_ += is_last ? 1 : 0;
    has_begun_ = !is_last;
    return true;
  }

  /// Moves a piece of what stays on this rank. False where nothing is left.
  bool move_own() noexcept {
    const std::int64_t last = std::min(movers_.own.bytes(), own_bytes_ + own_piece_);
    if (last == own_bytes_) {
      return false;
    }
    movers_.own.move_part(from_.at(exchange_.rank_), to_.at(exchange_.rank_), own_bytes_, last);
    own_bytes_ = last;
    return true;
  }

  NodeExchange& exchange_;
  const Movers& movers_;
  const WSide<int>& from_;
  const WSide<int>& to_;
  Shared* mine_;  // nullptr for a single rank
  std::int64_t own_piece_;
  int send_step_ = 1;
  std::int64_t sent_bytes_ = 0;  // of this step's part
  int receive_step_ = 1;
  std::int64_t received_bytes_ = 0;
  std::uint64_t senders_turn_ = 0;
  bool has_begun_ = false;  // this step's sender
  bool is_truncated_ = false;
  std::int64_t own_bytes_ = 0;
};

std::optional<int> NodeExchange::run(const WSide<int>& from, const WSide<int>& to) noexcept {
  const Movers* const movers = find_movers(from, to);
  const Decision decision = decide(movers != nullptr);
  if (decision == Decision::leave_to_mpi) {
    return std::nullopt;
  }
  double mpi_s = 0;
  if (decision == Decision::sample) {
    const double start = seconds();
    PMPI_Alltoallw(from.buffer, from.counts, from.displacements, from.datatypes, to.buffer, to.counts, to.displacements,
                   to.datatypes, comm_);
    mpi_s = seconds() - start;
  }
  const bool is_counted = Library::get().mode == Mode::stats;
  const double start = is_counted ? seconds() : 0;
  Flow flow(*this, *movers, from, to);
  flow.run();
  if (is_counted) {
    std::int64_t bytes = movers->own.bytes();
    for (const mover::Mover& move : movers->to_slots) {
      bytes += move.bytes();
    }
    Library::get().tallies.add_exchange(bytes, seconds() - start, mpi_s);
  }
  if (!flow.is_truncated()) {
    return MPI_SUCCESS;
  }
  PMPI_Comm_call_errhandler(comm_, MPI_ERR_TRUNCATE);
  return MPI_ERR_TRUNCATE;
}

}  // namespace penstock::interpose
