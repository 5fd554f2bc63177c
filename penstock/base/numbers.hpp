// Arithmetic of non-negative integers.
#pragma once

#include <type_traits>

#pragma GCC visibility push(default)

namespace penstock {

/// value / unit, rounded up.
template <class Integer>
constexpr Integer divide_up(Integer value, std::type_identity_t<Integer> unit) noexcept {
  return (value + unit - 1) / unit;
}

/// The smallest multiple of `unit` that is not below `value`.
template <class Integer>
constexpr Integer round_up(Integer value, std::type_identity_t<Integer> unit) noexcept {
  return divide_up(value, unit) * unit;
}

}  // namespace penstock

#pragma GCC visibility pop
