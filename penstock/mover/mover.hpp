// Turns a source layout and a destination layout into a copy between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "penstock/layout/layout.hpp"

namespace penstock::mover {

/// What becomes of the destination: it is read again soon, so that it should stay in cache; or it streams past, larger
/// than the cache, so that stores that bypass the cache save reading each line before it is written.
enum class Hint { reuse, streaming };

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
  static Mover compile(const layout::Layout& source, const layout::Layout& destination, Hint hint = Hint::reuse);

  /// Copies, with the layouts' origins at `source` and `destination`. After stores that bypass the cache it does not
  /// fence: call `finish_streaming` before another thread or rank is told.
  void operator()(const std::byte* source, std::byte* destination) const noexcept;

  /// The number of bytes moved.
  std::int64_t bytes() const noexcept;

  /// One line for people: the loops, the kernel, the instruction set.
  std::string describe() const;

  /// What `compile` made: loops over a kernel. Private to the module.
  struct Program;
  explicit Mover(std::shared_ptr<const Program> program) noexcept;

 private:
  std::shared_ptr<const Program> program_;
};

/// Orders stores that bypassed the cache before every later store of this thread.
void finish_streaming() noexcept;

}  // namespace penstock::mover
