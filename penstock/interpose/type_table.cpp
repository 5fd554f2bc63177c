#include "penstock/interpose/type_table.hpp"

#include <mutex>

namespace penstock::interpose {
namespace {

// Called by MPI when the last reference to a datatype goes, before its handle can be given out again.
int forget_freed(MPI_Datatype type, int /*keyval*/, void* table, void* /*extra*/) {
  static_cast<TypeTable*>(table)->forget(type);
  return MPI_SUCCESS;
}

}  // namespace

constinit thread_local TypeTable::Seen TypeTable::last_seen[seen_slots] = {};

std::shared_ptr<Type> TypeTable::share(MPI_Datatype type) noexcept {
  const std::shared_lock lock(mutex_);
  const auto found = types_.find(key_of(type));
  return found != types_.end() ? found->second : nullptr;
}

Type* TypeTable::search(MPI_Datatype type, Seen& seen) noexcept {
  const std::uint64_t generation = generation_.load(std::memory_order_acquire);
  std::shared_ptr<Type> entry = share(type);
  if (entry != nullptr) {
    if (!entry->is_read(type)) {
      entry = nullptr;
    } else if (entry->is_unwatched()) {
      watch(type);
    }
  }
  seen = {type, generation, entry.get()};
  return entry.get();
}

void TypeTable::watch(MPI_Datatype type) noexcept {
  int keyval = keyval_.load(std::memory_order_acquire);
  if (keyval == MPI_KEYVAL_INVALID) {
    const std::unique_lock lock(mutex_);
    keyval = keyval_.load(std::memory_order_relaxed);
    if (keyval == MPI_KEYVAL_INVALID) {
      PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget_freed, &keyval, nullptr);
      keyval_.store(keyval, std::memory_order_release);
    }
  }
  PMPI_Type_set_attr(type, keyval, this);
}

void TypeTable::add(MPI_Datatype type) {
  auto entry = std::make_shared<Type>(movers_, tallies_);
  const std::unique_lock lock(mutex_);
  // Committing once more changes nothing.
  if (types_.try_emplace(key_of(type), std::move(entry)).second) {
    generation_.fetch_add(1, std::memory_order_release);
  }
}

bool TypeTable::holds(MPI_Datatype type) {
  const std::shared_lock lock(mutex_);
  return types_.contains(key_of(type));
}

void TypeTable::forget(MPI_Datatype type) noexcept {
  std::shared_ptr<Type> dropped;  // destroyed without the lock
  const std::unique_lock lock(mutex_);
  const auto found = types_.find(key_of(type));
  if (found != types_.end()) {
    dropped = std::move(found->second);
    types_.erase(found);
    generation_.fetch_add(1, std::memory_order_release);
  }
}

}  // namespace penstock::interpose
