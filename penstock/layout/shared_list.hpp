// The lists that a layout holds: cheap to copy, whatever their length.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::layout {

/// An immutable list. Up to `few` items lie in the object itself and cost no allocation; a longer list is shared by all
/// copies. Thread-safe as a value.
template <class T, std::size_t few>
class SharedList {
 public:
  SharedList() = default;
  explicit SharedList(std::span<const T> items) {
    if (items.size() <= few) {
      take_few(items);
    } else {
      many_ = std::make_shared<const std::vector<T>>(items.begin(), items.end());
    }
  }
  /// Moves the list instead of copying it.
  explicit SharedList(std::vector<T>&& items) {
    if (items.size() <= few) {
      take_few(items);
    } else {
      many_ = std::make_shared<const std::vector<T>>(std::move(items));
    }
  }

  std::span<const T> items() const noexcept {
    return many_ != nullptr ? std::span<const T>(*many_) : std::span<const T>(few_).first(in_place_);
  }

 private:
  void take_few(std::span<const T> items) noexcept {
    std::ranges::copy(items, few_.begin());
    in_place_ = items.size();
  }

  std::array<T, few> few_{};
  std::size_t in_place_ = 0;
  std::shared_ptr<const std::vector<T>> many_;
};

}  // namespace penstock::layout

#pragma GCC visibility pop
