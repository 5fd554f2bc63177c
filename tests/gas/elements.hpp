// What collective calls are tested with: elements of each rank, in memory that its peers reach or not.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "penstock/gas/gas.hpp"

namespace penstock::gas {

/// Elements in a segment or elsewhere: data are read where they lie in a segment, or else written where that is one, or
/// else go through queues.
template <class T>
class Elements {
 public:
  Elements(const Team& team, std::vector<T> values, bool is_in_segment) : plain_(std::move(values)) {
    if (is_in_segment) {
      segment_.emplace(team, plain_.size() * sizeof(T), 0);
      std::ranges::copy(plain_, segment_->template local_as<T>().begin());
    }
  }
  std::span<T> span() { return segment_ ? segment_->template local_as<T>().first(plain_.size()) : std::span(plain_); }

 private:
  std::vector<T> plain_;
  std::optional<Segment> segment_;
};

template <class T>
std::vector<T> copy_of(std::span<T> elements) {
  return {elements.begin(), elements.end()};
}

}  // namespace penstock::gas
