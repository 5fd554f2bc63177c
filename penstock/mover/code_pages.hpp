// Memory for machine code: written, then sealed. Private to the module.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace penstock::mover {

/// A function in memory pages of its own, which at no time are writable and executable at once. Owns a share of the
/// chunk of pages that they were taken from.
class CodePages {
 public:
  /// Copies `code`, which must not depend on where it lies, and makes it executable. Thread-safe. Without a function
  /// where the system gives no such memory.
  static CodePages seal(std::span<const std::byte> code);

  /// Where the code begins; null where there is none.
  const void* begin() const noexcept { return begin_; }

 private:
  class Chunk;

  std::shared_ptr<Chunk> chunk_;
  const void* begin_ = nullptr;
};

}  // namespace penstock::mover
