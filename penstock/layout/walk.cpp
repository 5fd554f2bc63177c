// Walks through a layout's runs, and what is told from them: whether two layouts are equal.
#include <algorithm>
#include <initializer_list>

#include "penstock/layout/layout.hpp"

namespace penstock::layout {
namespace {

/// Copies share their lists.
template <class Item>
bool are_equal(std::span<const Item> a, std::span<const Item> b) noexcept {
  return (a.data() == b.data() && a.size() == b.size()) || std::ranges::equal(a, b);
}

/// Whether two layouts of equally many bytes name the same in the same order, however they are held.
bool walk_alike(const Layout& a, const Layout& b) noexcept {
  bool are_same = true;
  for_each_piece(a, b, a.bytes(), [&](std::int64_t of_a, std::int64_t of_b, std::int64_t) {
    are_same = of_a == of_b;
    return are_same;
  });
  return are_same;
}

}  // namespace

bool Layout::operator==(const Layout& other) const noexcept {
  if (bytes_ != other.bytes_ || lower_bound_ != other.lower_bound_ || upper_bound_ != other.upper_bound_) {
    return false;
  }
  if (std::ranges::equal(levels(), other.levels()) && are_equal(runs(), other.runs()) &&
      are_equal(parts(), other.parts())) {
    return true;
  }
  const bool is_normal_form_unique = parts().empty() && other.parts().empty();
  return !is_normal_form_unique && walk_alike(*this, other);
}

std::size_t Layout::hash() const noexcept {
  // Of what does not depend on how the bytes are held. The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
  std::uint64_t state = 0;
  for (const std::int64_t value : {bytes_, lower_bound_, upper_bound_}) {
    state += static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15U;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebU;
    state ^= state >> 31;
  }
  return static_cast<std::size_t>(state);
}

RunWalk::RunWalk(const Layout& layout) noexcept {
  if (layout.bytes() > 0) {
    enter(layout);
  }
}

void RunWalk::enter(const Layout& node) noexcept {
  const Layout* here = &node;
  for (;;) {
    nodes_[depth_] = here;
    child_[depth_] = 0;
    ++depth_;
    std::fill_n(index_.begin() + static_cast<std::ptrdiff_t>(levels_above_), here->levels().size(), 0);
    levels_above_ += here->levels().size();
    if (here->parts().empty()) {
      return;
    }
    here = &here->parts().front();
  }
}

void RunWalk::next() noexcept {
  while (depth_ > 0) {
    const Layout& node = *nodes_[depth_ - 1];
    std::size_t& child = child_[depth_ - 1];
    ++child;
    if (child < node.runs().size()) {
      return;
    }
    if (child < node.parts().size()) {
      enter(node.parts()[child]);
      return;
    }
    const auto levels = node.levels();
    const std::size_t outside = levels_above_ - levels.size();
    for (std::size_t i = levels.size(); i-- > 0;) {
      std::int64_t& index = index_[outside + i];
      if (++index < levels[i].extent) {
        base_ += levels[i].stride;
        child = 0;
        if (!node.parts().empty()) {
          enter(node.parts().front());
        }
        return;
      }
      index = 0;
      base_ -= levels[i].stride * (levels[i].extent - 1);
    }
    levels_above_ = outside;
    --depth_;
  }
}

}  // namespace penstock::layout
