#include "penstock/base/trace.hpp"

#include <algorithm>
#include <new>

namespace penstock::trace {

static_assert(sizeof(Event) == 64);

constinit thread_local Track* detail::track_of_this_thread = nullptr;

bool Track::grow() noexcept {
  const std::int64_t has = std::ssize(chunks_) * chunk_events;
  if (has < max_events_) {
    try {
      const std::int64_t events = std::min(chunk_events, max_events_ - has);
      next_ = chunks_.emplace_back(static_cast<std::size_t>(events)).data();  // touched here
      end_ = next_ + events;
      return true;
    } catch (const std::bad_alloc&) {
      max_events_ = has;
    }
  }
  ++dropped_;
  return false;
}

std::vector<Event> Track::events() const {
  std::vector<Event> all;
  for (const auto& chunk : chunks_) {
    const Event* const begin = chunk.data();
    all.insert(all.end(), begin, &chunk == &chunks_.back() ? next_ : begin + chunk.size());
  }
  return all;
}

Track& Recorder::find(std::deque<Track>& in, std::string_view name) {
  const auto found = std::ranges::find(in, name, &Track::name);
  return found != in.end() ? *found : in.emplace_back(*this, std::string(name), max_events_);
}

Track& Recorder::thread(int number) {
  const std::scoped_lock lock(mutex_);
  while (std::ssize(threads_) <= number) {
    threads_.emplace_back(*this, "thread " + std::to_string(threads_.size()), max_events_);
  }
  return threads_[static_cast<std::size_t>(number)];
}

Track& Recorder::track(std::string_view name) {
  const std::scoped_lock lock(mutex_);
  return find(others_, name);
}

const char* Recorder::keep(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  return texts_.emplace(text).first->c_str();
}

std::uint64_t Recorder::next_id() noexcept {
  return mix({static_cast<std::uint64_t>(rank_), last_id_.fetch_add(1, std::memory_order_relaxed)});
}

std::vector<const Track*> Recorder::tracks() const {
  const std::scoped_lock lock(mutex_);
  std::vector<const Track*> all;
  for (const std::deque<Track>* some : {&threads_, &others_}) {
    for (const Track& track : *some) {
      all.push_back(&track);
    }
  }
  return all;
}

Recording::Recording(Recorder* recorder, int number) {
  if (recorder != nullptr) {
    detail::track_of_this_thread = &recorder->thread(number);
  }
}

void Span::end() noexcept {
  detail::track_of_this_thread = track_;
  track_->add({.name = name_,
               .begin_s = begin_s_,
               .end_s = seconds(),
               .id = about_.id,
               .after = about_.after,
               .bytes = about_.bytes,
               .peer = about_.peer,
               .category = category_});
}

Step::Step(std::string_view name, std::optional<int> number) {
  if (Recorder* const recorder = this_recorder(); recorder != nullptr) {
    track_ = &recorder->track(steps_track);
    name_ = recorder->keep(number ? std::string(name) + " " + std::to_string(*number) : std::string(name));
    begin_s_ = seconds();
  }
}

Step::~Step() {
  if (track_ != nullptr) {
    track_->add({.name = name_, .begin_s = begin_s_, .end_s = seconds(), .category = Category::step});
  }
}

}  // namespace penstock::trace
