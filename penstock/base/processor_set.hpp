// The processors that a thread may run on. Included by base.hpp.
#pragma once

#include <array>
#include <compare>
#include <initializer_list>

#pragma GCC visibility push(default)

namespace penstock {

/// A set of the host's processors, by the system's numbers from 0 to `max_processors` - 1. Trivially copyable.
class ProcessorSet {
 public:
  static constexpr int max_processors = 2048;

  /// No processor, or those of the list.
  ProcessorSet() noexcept = default;
  ProcessorSet(std::initializer_list<int> processors) noexcept;

  /// Those that the calling thread may run on; none where the host has more than `max_processors`.
  static ProcessorSet of_this_thread() noexcept;
  /// Every number.
  static ProcessorSet all() noexcept;

  /// Binds the calling thread, and threads that it starts later, to those of the set that there are and that it may
  /// get. Where the system refuses, nothing changes.
  void bind_this_thread() const noexcept;

  int count() const noexcept;
  bool contains(int processor) const noexcept;
  /// Adds those of `others`.
  void add(const ProcessorSet& others) noexcept;

  /// The order of sets has no meaning.
  auto operator<=>(const ProcessorSet&) const noexcept = default;

 private:
  using Word = unsigned long;  // as the system has sets
  static constexpr int word_bits = 8 * sizeof(Word);
  std::array<Word, max_processors / word_bits> words_{};
};

/// The number of processors that this thread may run on, at least 1.
int usable_processors() noexcept;

}  // namespace penstock

#pragma GCC visibility pop
