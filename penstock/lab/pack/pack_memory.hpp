// Where packing reads and writes: one place again and again, or so many places that no cache holds any of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/layout/layout.hpp"

namespace penstock::lab {

/// Memory in pages of the smallest size, every byte written: what most programs' arrays lie in.
class Arena {
 public:
  /// Throws Error where the system refuses.
  explicit Arena(std::size_t bytes);

  std::byte* data() const noexcept { return data_.get(); }
  std::int64_t size() const noexcept { return bytes_; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* data) const noexcept;
  };
  std::unique_ptr<std::byte, Unmap> data_;
  std::int64_t bytes_;
};

/// The size of each arena for the cold regime.
inline constexpr std::int64_t cold_arena_bytes = std::int64_t{640} << 20;

/// Offsets into an arena of `arena_bytes` bytes for the bytes that `touched` names within [0, `array_bytes`), to be
/// used in turn: arrays side by side, and where so few lie in the arena, or each touches so little, that caches could
/// hold all of it, also places that are displaced by whole cache lines to such as none has touched.
std::vector<std::int64_t> cold_places(const layout::Layout& touched, std::int64_t array_bytes,
                                      std::int64_t arena_bytes);

}  // namespace penstock::lab
