#include "penstock/interpose/type.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include "penstock/base/clock.hpp"
#include "penstock/interpose/tallies.hpp"

namespace penstock::interpose {
namespace {

using layout::Layout;

// What spans more than the second-level cache of the machines we know is taken to come from memory.
constexpr std::int64_t max_cached_bytes = std::int64_t{1} << 20;

std::int64_t count_runs(const Layout& layout) {
  std::int64_t runs = static_cast<std::int64_t>(layout.runs().size());
  for (const Layout& part : layout.parts()) {
    runs += count_runs(part);
  }
  for (const layout::Level& level : layout.levels()) {
    runs *= level.extent;
  }
  return runs;
}

bool has_gaps(MPI_Datatype basic) {
  int bytes = 0;
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  return PMPI_Type_size(basic, &bytes) != MPI_SUCCESS ||
         PMPI_Type_get_extent(basic, &lower_bound, &extent) != MPI_SUCCESS || bytes != extent;
}

/// Whether messages of such elements must be MPI's own on both sides. MPICH 4.0.2 takes a long message for too long
/// that was sent packed, and that it receives as pairs with gaps, such as MPI_DOUBLE_INT.
bool are_for_mpi_alone([[maybe_unused]] const std::vector<MPI_Datatype>& basics) {
#ifdef OPEN_MPI
  return false;
#else
  return std::ranges::any_of(basics, has_gaps);
#endif
}

}  // namespace

bool Type::read(MPI_Datatype type) noexcept {
  const std::lock_guard lock(mutex_);
  if (state_ != State::fresh) {
    return state_ == State::read;
  }
  State state = State::unreadable;
  try {
    const double start = tallies_ != nullptr ? seconds() : 0;
    const datatype::Description description = datatype::describe(type);
    element_ = description.element;
    extent_ = description.extent;
    bytes_ = element_.bytes();
    const std::vector<MPI_Datatype> basics = datatype::basics_of(type);
    if (basics.size() == 1 && !has_gaps(basics.front())) {
      basic_ = basics.front();
    }
    if (bytes_ > 0 && !are_for_mpi_alone(basics)) {
      is_element_contiguous_ = element_.is_contiguous();
      run_bytes_ = bytes_ / count_runs(element_);
      state = State::read;
      if (tallies_ != nullptr) {
        tally_ = &tallies_->of(element_, extent_, type);
        tally_->add_preparation(seconds() - start);
      }
    }
  } catch (const std::exception&) {
    state = State::unreadable;
  }
  state_.store(state, std::memory_order_release);
  return state == State::read;
}

/// The mover in one of the slots, which stays as long as this type; or nullptr.
const mover::Mover* Type::find_mover(Direction direction, std::int64_t count) const noexcept {
  for (const Slot& slot : direction == Direction::pack ? packers_ : unpackers_) {
    const std::int64_t held = slot.count.load(std::memory_order_acquire);
    if (held == count) {
      return &slot.mover;
    }
    if (held < 0) {
      break;
    }
  }
  return nullptr;
}

mover::Mover Type::make_mover(Direction direction, std::int64_t count) {
  Slots& slots = direction == Direction::pack ? packers_ : unpackers_;
  const double start = tally_ != nullptr ? seconds() : 0;
  const Layout of_user = elements(count);
  const Layout packed = Layout::contiguous(of_user.bytes());
  const mover::Hint hint =
      of_user.upper_bound() - of_user.lower_bound() > max_cached_bytes ? mover::Hint::from_memory : mover::Hint::reuse;
  mover::Mover made =
      direction == Direction::pack ? movers_.compile(of_user, packed, hint) : movers_.compile(packed, of_user, hint);
  if (tally_ != nullptr) {
    tally_->add_preparation(seconds() - start);
  }
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots) {
    const std::int64_t held = slot.count.load(std::memory_order_relaxed);
    if (held == count) {
      break;
    }
    if (held < 0) {
      slot.mover = made;
      slot.count.store(count, std::memory_order_release);
      break;
    }
  }
  return made;
}

void Type::pack(std::int64_t count, const void* user, std::byte* packed) noexcept {
  mover::Mover made;
  const mover::Mover* held = find_mover(Direction::pack, count);
  const mover::Mover& move = held != nullptr ? * held : made = make_mover(Direction::pack, count);
  const auto* from = static_cast<const std::byte*>(user);
  if (tally_ == nullptr) {
    move(from, packed);
    return;
  }
  const double start = seconds();
  move(from, packed);
  tally_->add_pack(move.bytes(), seconds() - start, count, user);
}

void Type::unpack(std::int64_t count, const std::byte* packed, void* user, std::int64_t received) noexcept {
  mover::Mover made;
  const mover::Mover* held = find_mover(Direction::unpack, count);
  const mover::Mover& move = held != nullptr ? * held : made = make_mover(Direction::unpack, count);
  auto* to = static_cast<std::byte*>(user);
  const double start = tally_ != nullptr ? seconds() : 0;
  if (received >= move.bytes()) {
    move(packed, to);
  } else {
    move.move_part(packed, to, 0, received);
  }
  if (tally_ != nullptr) {
    tally_->add_unpack(received, seconds() - start, count, packed, user);
  }
}

bool Type::has_mover(Direction direction, std::int64_t count) noexcept {
  if (find_mover(direction, count) != nullptr) {
    return true;
  }
  try {
    static_cast<void>(make_mover(direction, count));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace penstock::interpose
