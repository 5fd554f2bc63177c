// What the C++ library of Debian 12's Emscripten (3.1.6, libc++ 13) lacks of C++20 and the models use; included before
// each of their sources. Algorithms over ranges go to those over iterators, and numbers are read by strtod.
#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string>

#if _LIBCPP_VERSION < 15000
namespace std::ranges {

template <class Range, class Value, class Projection = identity>
constexpr auto find(Range&& range, const Value& value, Projection projection = {}) {
  return std::find_if(begin(range), end(range), [&](auto&& each) { return invoke(projection, each) == value; });
}

template <class Range, class Value>
constexpr auto count(Range&& range, const Value& value) {
  return std::count(begin(range), end(range), value);
}

template <class Range, class Predicate>
constexpr bool any_of(Range&& range, Predicate predicate) {
  return std::any_of(begin(range), end(range), predicate);
}

template <class Range, class Predicate>
constexpr bool all_of(Range&& range, Predicate predicate) {
  return std::all_of(begin(range), end(range), predicate);
}

template <class Compare, class Projection>
auto by(Compare compare, Projection projection) {
  return [=](auto&& a, auto&& b) { return invoke(compare, invoke(projection, a), invoke(projection, b)); };
}

template <class Range, class Compare = std::less<>, class Projection = identity>
constexpr void sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  std::sort(begin(range), end(range), by(compare, projection));
}

template <class Range, class Compare = std::less<>, class Projection = identity>
constexpr void stable_sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  std::stable_sort(begin(range), end(range), by(compare, projection));
}

template <class Range, class Compare = std::less<>, class Projection = identity>
constexpr auto max_element(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::max_element(begin(range), end(range), by(compare, projection));
}

template <class Range, class Compare = std::less<>, class Projection = identity>
constexpr auto min_element(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::min_element(begin(range), end(range), by(compare, projection));
}

template <class Range, class Value, class Compare = std::less<>, class Projection = identity>
constexpr auto lower_bound(Range&& range, const Value& value, Compare compare = {}, Projection projection = {}) {
  return std::lower_bound(begin(range), end(range), value, [&](auto&& each, auto&& sought) {
    return invoke(compare, invoke(projection, each), sought);
  });
}

template <class Range, class Output, class Operation>
constexpr auto transform(Range&& range, Output output, Operation operation) {
  return std::transform(begin(range), end(range), output, [&](auto&& each) { return invoke(operation, each); });
}

template <class Range, class Value>
constexpr void replace(Range&& range, const Value& old_value, const Value& new_value) {
  std::replace(begin(range), end(range), old_value, new_value);
}

template <class Range, class Output>
constexpr auto copy(Range&& range, Output output) {
  return std::copy(begin(range), end(range), output);
}

}  // namespace std::ranges
#endif

#if _LIBCPP_VERSION < 20000
namespace std {

inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const string text(first, last);
  if (text.empty() || text.find_first_of(" \t\n\v\f\rxX") != string::npos || text.front() == '+') {
    return {first, errc::invalid_argument};
  }
  char* end = nullptr;
  errno = 0;
  const double read = strtod(text.c_str(), &end);
  if (end == text.c_str()) {
    return {first, errc::invalid_argument};
  }
  const char* const behind = first + (end - text.c_str());
  if (errno == ERANGE) {
    return {behind, errc::result_out_of_range};
  }
  value = read;
  return {behind, errc()};
}

}  // namespace std
#endif
