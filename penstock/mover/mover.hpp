// Turns a source layout and a destination layout into a copy between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "penstock/layout/layout.hpp"

namespace penstock::mover {

/// Where the source comes from and what becomes of the destination.
enum class Hint {
  reuse,        ///< both lie in cache, as far as they fit: a copy that touches more is taken to come from memory
  from_memory,  ///< what is read comes from memory and is asked for ahead; the destination stays in cache
  streaming,    ///< both are larger than the cache: stores that bypass it save reading each line before it is written
};

/// When machine code is made for a copy. Until then, and where there is no compiler for the processor, kernels that
/// were compiled ahead of time serve.
enum class Code {
  when_hot,  ///< after some uses, where it is faster than the kernels
  at_once,   ///< by `compile`, where it is faster
  never,
};

/// A compiled copy: byte k of the source layout goes to byte k of the destination layout.
///
/// Immutable and thread-safe after `compile`; copies of a mover share what was compiled. Running one allocates nothing,
/// takes no lock and calls the system for nothing.
class Mover {
 public:
  /// Moves nothing.
  Mover() = default;

  /// Compiles the copy from `source` to `destination`, which name equally many bytes (else Error). No byte of the
  /// destination may be named twice, and the two may not overlap in memory when run; the bytes may be moved in any
  /// order.
  static Mover compile(const layout::Layout& source, const layout::Layout& destination, Hint hint = Hint::reuse,
                       Code code = Code::when_hot);

  /// Copies, with the layouts' origins at `source` and `destination`. After stores that bypass the cache it does not
  /// fence: call `finish_streaming` before another thread or rank is told. The one call of many that finds the mover
  /// hot makes its machine code, which takes microseconds.
  void operator()(const std::byte* source, std::byte* destination) const noexcept;

  /// Copies bytes `first` to `last` (exclusive) of the layouts' order alone, the origins given as above: so can a
  /// message be packed, sent and unpacked in pieces. 0 <= first <= last <= bytes().
  void move_part(const std::byte* source, std::byte* destination, std::int64_t first, std::int64_t last) const noexcept;

  /// Whether machine code was made for it.
  bool has_code() const noexcept;

  /// Whether its next uses still try machine code in several styles, the fastest of which will serve.
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

/// Movers by what they move, so that equal copies are compiled once. Keeps the movers used last; a mover handed out
/// lives on without the cache. Thread-safe.
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
