// The cache of movers: by the two layouts and the hint, the least recently used dropped first.
#include <iterator>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "penstock/mover/mover.hpp"

namespace penstock::mover {

struct Cache::Entries {
  struct Entry {
    std::size_t hash;
    layout::Layout source;
    layout::Layout destination;
    Hint hint;
    Code code;
    Mover mover;
  };
  std::size_t most;
  std::mutex mutex;
  std::list<Entry> by_use;  // the latest first
  std::unordered_multimap<std::size_t, std::list<Entry>::iterator> by_hash;
};

Cache::Cache(std::size_t max_movers) : entries_(std::make_unique<Entries>()) {
  entries_->most = max_movers;
}
Cache::~Cache() = default;
Cache::Cache(Cache&&) noexcept = default;
Cache& Cache::operator=(Cache&&) noexcept = default;

Mover Cache::compile(const layout::Layout& source, const layout::Layout& destination, Hint hint, Code code) {
  const std::size_t hash = source.hash() * 31 + destination.hash();
  const std::lock_guard lock(entries_->mutex);
  auto [begin, end] = entries_->by_hash.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Entries::Entry& entry = *it->second;
    if (entry.hint == hint && entry.code == code && entry.source == source && entry.destination == destination) {
      entries_->by_use.splice(entries_->by_use.begin(), entries_->by_use, it->second);
      return entry.mover;
    }
  }
  Mover mover = Mover::compile(source, destination, hint, code);
  entries_->by_use.push_front({hash, source, destination, hint, code, mover});
  entries_->by_hash.emplace(hash, entries_->by_use.begin());
  if (entries_->by_use.size() > entries_->most) {
    const auto last = std::prev(entries_->by_use.end());
    auto [first_of, end_of] = entries_->by_hash.equal_range(last->hash);
    for (auto it = first_of; it != end_of; ++it) {
      if (it->second == last) {
        entries_->by_hash.erase(it);
        break;
      }
    }
    entries_->by_use.pop_back();
  }
  return mover;
}

}  // namespace penstock::mover
