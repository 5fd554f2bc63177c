#include "penstock/interpose/bounce.hpp"

#include <bit>
#include <utility>

namespace penstock::interpose {

Bounce::~Bounce() {
  if (block_ != nullptr) {
    pool_->take_back(std::move(block_));
  }
}

Bounce& Bounce::operator=(Bounce&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(block_, other.block_);
  return *this;
}

Bounce Bounces::lend(std::int64_t bytes) {
  const auto wanted = static_cast<std::size_t>(bytes);
  const std::size_t size_class =
      wanted <= smallest_bytes ? 0 : static_cast<std::size_t>(std::bit_width((wanted - 1) / smallest_bytes));
  Shelf& shelf = shelves_.at(size_class);
  const std::size_t block_bytes = smallest_bytes << size_class;
  const std::lock_guard lock(shelf.mutex);
  if (shelf.blocks.empty()) {
    if (block_bytes < huge_page_bytes) {
      cut_slab(size_class, shelf.blocks);
    } else {
      auto block = std::make_unique<Bounce::Block>();
      block->own = Memory(block_bytes);
      block->data = block->own.data();
      block->size_class = size_class;
      return {*this, std::move(block)};
    }
  }
  std::unique_ptr<Bounce::Block> block = std::move(shelf.blocks.back());
  shelf.blocks.pop_back();
  if (block->own.size() != 0) {
    idle_bytes_.fetch_sub(block->own.size(), std::memory_order_relaxed);
  }
  return {*this, std::move(block)};
}

void Bounces::take_back(std::unique_ptr<Bounce::Block> block) noexcept {
  const std::size_t bytes = block->own.size();
  if (bytes != 0 && idle_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > max_idle_bytes) {
    idle_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return;  // unmapped with the block
  }
  Shelf& shelf = shelves_.at(block->size_class);
  const std::lock_guard lock(shelf.mutex);
  shelf.blocks.push_back(std::move(block));
}

void Bounces::cut_slab(std::size_t size_class, std::vector<std::unique_ptr<Bounce::Block>>& blocks) {
  Memory slab(huge_page_bytes);
  const std::size_t block_bytes = smallest_bytes << size_class;
  for (std::size_t offset = 0; offset < huge_page_bytes; offset += block_bytes) {
    auto block = std::make_unique<Bounce::Block>();
    block->data = slab.data() + offset;
    block->size_class = size_class;
    blocks.push_back(std::move(block));
  }
  const std::lock_guard lock(slabs_mutex_);
  slabs_.push_back(std::move(slab));
}

}  // namespace penstock::interpose
