// Turns a source layout and a destination layout into a copy between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "penstock/layout/layout.hpp"

#pragma GCC visibility push(default)

namespace penstock::mover {

/// Where the source lies and whether the destination stays in cache.
enum class Hint {
  reuse,        ///< both lie in cache; a copy too large for the cache is taken to come from memory
  from_memory,  ///< the source lies in memory and is prefetched; the destination stays in cache
  streaming,    ///< both are larger than the cache: non-temporal stores save reading each line before it is written
};

/// When machine code is made for a copy. Until then, and where there is no compiler for the processor, kernels that
/// were compiled ahead of time do the copy.
enum class Code {
  when_hot,  ///< after some uses, if it is faster than the kernels
  at_once,   ///< by `compile`, if it is faster than the kernels
  never,
};

/// A compiled copy: byte k of the source layout goes to byte k of the destination layout.
///
/// Immutable and thread-safe after `compile`; copies of a mover share what was compiled. Running a mover allocates
/// nothing, takes no lock and makes no system call, but for the one use that makes machine code.
class Mover {
 public:
  /// Moves nothing.
  Mover() = default;

  /// Compiles the copy from `source` to `destination`. No byte of the destination may be named twice, and the two may
  /// not overlap in memory when run; the bytes may be moved in any order. Throws Error where the layouts name
  /// different numbers of bytes, and where a loop of the destination has a stride of 0.
  static Mover compile(const layout::Layout& source, const layout::Layout& destination, Hint hint = Hint::reuse,
                       Code code = Code::when_hot);

  /// Copies, with the layouts' origins at `source` and `destination`. Does not fence non-temporal stores: call
  /// `finish_streaming` before another thread or rank learns that the data are there. Under Code::when_hot one of the
  /// calls makes the machine code, which takes microseconds.
  void operator()(const std::byte* source, std::byte* destination) const noexcept;

  /// Copies only the bytes `first` to `last` (exclusive) in the order of the layouts, so that a message can be packed,
  /// sent and unpacked in pieces; `source` and `destination` are the origins as above. 0 <= first <= last <= bytes().
  void move_part(const std::byte* source, std::byte* destination, std::int64_t first, std::int64_t last) const noexcept;

  /// Whether machine code was made for the copy.
  bool has_code() const noexcept;

  /// Whether the next uses still time machine code in several styles, of which the fastest will be used.
  bool is_trying() const noexcept;

  /// The number of bytes moved.
  std::int64_t bytes() const noexcept;

  /// One line for people: the loops, the kernel, the instruction set.
  std::string describe() const;

  /// What `compile` made: steps over kernels, and the machine code for them. Private to the module.
  struct Program;
  class Engine;
  explicit Mover(std::shared_ptr<Engine> engine) noexcept;

 private:
  std::shared_ptr<Engine> engine_;
};

/// A cache of movers, so that equal copies are compiled once: copies of equal layouts, Hint and Code. Keeps the
/// `max_movers` movers used last; a mover does not need the cache to live on. Thread-safe.
class Cache {
 public:
  explicit Cache(std::size_t max_movers);
  ~Cache();
  Cache(Cache&&) noexcept;
  Cache& operator=(Cache&&) noexcept;

  /// As Mover::compile.
  Mover compile(const layout::Layout& source, const layout::Layout& destination, Hint hint = Hint::reuse,
                Code code = Code::when_hot);

 private:
  struct Entries;
  std::unique_ptr<Entries> entries_;
};

/// Orders stores that bypassed the cache before every later store of this thread.
void finish_streaming() noexcept;

}  // namespace penstock::mover

#pragma GCC visibility pop
