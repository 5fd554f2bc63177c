// Buffers for packed messages, kept between messages so that they stay in cache.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "penstock/base/memory.hpp"

namespace penstock::interpose {

class Bounces;

/// A buffer on loan; its destructor returns it. Movable, not copyable.
class Bounce {
 public:
  Bounce() = default;
  ~Bounce();
  Bounce(Bounce&& other) noexcept = default;
  Bounce& operator=(Bounce&& other) noexcept;

  std::byte* data() const noexcept { return block_ != nullptr ? block_->data : nullptr; }

 private:
  friend class Bounces;
  struct Block {
    std::byte* data = nullptr;
    std::size_t size_class = 0;
    Memory own;  // none for a slice of a slab
  };
  Bounce(Bounces& pool, std::unique_ptr<Block> block) noexcept : pool_(&pool), block_(std::move(block)) {}

  Bounces* pool_ = nullptr;
  std::unique_ptr<Block> block_;
};

/// A pool of buffers. It lends the buffer that was returned last, which is the likeliest to be in cache. Buffers lie in
/// huge pages: slices of slabs of 2 MiB, or blocks of their own. Thread-safe.
class Bounces {
 public:
  /// A buffer of at least `bytes` bytes, aligned to 4 KiB. Throws Error where the system gives no memory.
  Bounce lend(std::int64_t bytes);

 private:
  friend class Bounce;
  static constexpr std::size_t smallest_bytes = 4096;
  static constexpr std::size_t classes = 40;  // powers of two from the smallest
  // What is kept of the blocks larger than a slab when nobody uses them: a few buffers of the largest messages.
  static constexpr std::size_t max_idle_bytes = std::size_t{256} << 20;

  struct Shelf {
    std::mutex mutex;
    std::vector<std::unique_ptr<Bounce::Block>> blocks;
  };

  void take_back(std::unique_ptr<Bounce::Block> block) noexcept;
  void cut_slab(std::size_t size_class, std::vector<std::unique_ptr<Bounce::Block>>& blocks);

  std::array<Shelf, classes> shelves_;
  std::atomic<std::size_t> idle_bytes_{0};
  std::mutex slabs_mutex_;
  std::vector<Memory> slabs_;
};

}  // namespace penstock::interpose
