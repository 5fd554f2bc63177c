#include "penstock/layout/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "penstock/base/error.hpp"
#include "penstock/layout/repetition.hpp"

namespace penstock::layout {
namespace {

// Half the range of 64 bits, so that the distance between any two bytes of a layout does not overflow either.
constexpr std::int64_t furthest_offset = std::int64_t{1} << 62;

[[noreturn]] void refuse_distance() {
  throw Error("a layout reaches more than 2^62 bytes from its origin: use smaller strides or extents");
}

void check_not_negative(std::int64_t value, const char* what) {
  if (value < 0) {
    throw Error(fmt::format("the {} of a layout is {}: it must not be negative", what, value));
  }
}

std::int64_t distance_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    refuse_distance();
  }
  return product;
}

std::int64_t distance_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum < -furthest_offset || sum > furthest_offset) {
    refuse_distance();
  }
  return sum;
}

std::int64_t count_bytes(std::int64_t copies, std::int64_t bytes) {
  std::int64_t total = 0;
  if (__builtin_mul_overflow(copies, bytes, &total)) {
    throw Error(
        fmt::format("a layout of {} times {} bytes names more than 2^63 bytes: use smaller extents", copies, bytes));
  }
  return total;
}

std::int64_t count_runs(const Layout& layout) {
  auto count = static_cast<std::int64_t>(layout.runs().size());
  for (const Level& level : layout.levels()) {
    count *= level.extent;  // at most the count of bytes, which fits
  }
  return count;
}

void check_run_count(std::int64_t copies, std::int64_t runs) {
  std::int64_t total = 0;
  if (__builtin_mul_overflow(copies, runs, &total) || total > Layout::most_runs) {
    throw Error(fmt::format("a layout of {} irregular copies of {} runs exceeds the limit of {} runs: move it in parts",
                            copies, runs, Layout::most_runs));
  }
}

void check_box(std::span<const std::int64_t> shape, std::span<const std::int64_t> start,
               std::span<const std::int64_t> extent) {
  if (shape.size() != start.size() || shape.size() != extent.size()) {
    throw Error(fmt::format("a subarray has {} sizes, {} starts and {} extents: it needs one of each per dimension",
                            shape.size(), start.size(), extent.size()));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    check_not_negative(shape[i], "array size");
    check_not_negative(start[i], "subarray's start");
    check_not_negative(extent[i], "subarray's extent");
    if (start[i] > shape[i] || extent[i] > shape[i] - start[i]) {
      throw Error(fmt::format("a subarray of {} elements from element {} ends outside the array's {} (dimension {})",
                              extent[i], start[i], shape[i], i));
    }
  }
}

}  // namespace

Layout Layout::contiguous(std::int64_t bytes) {
  check_not_negative(bytes, "count of bytes");
  Layout layout;
  if (bytes > 0) {
    layout.runs_ = {{0, bytes}};
    layout.bytes_ = bytes;
    layout.upper_bound_ = distance_sum(bytes, 0);
  }
  return layout;
}

// Of a part in normal form only the outermost loop can continue into the new one: were the whole to repeat with a
// period shorter than the part, that period would be the part's own.
Layout Layout::strided(std::int64_t count, std::int64_t stride, const Layout& part) {
  check_not_negative(count, "count of copies");
  if (count == 0 || part.bytes_ == 0) {
    return {};
  }
  Layout layout = part;
  if (count == 1) {
    return layout;
  }
  layout.bytes_ = count_bytes(count, part.bytes_);
  const std::int64_t reach = distance_product(count - 1, stride);
  layout.lower_bound_ = distance_sum(part.lower_bound_, std::min<std::int64_t>(reach, 0));
  layout.upper_bound_ = distance_sum(part.upper_bound_, std::max<std::int64_t>(reach, 0));
  if (layout.levels_.empty() && layout.runs_.size() == 1 && stride == layout.runs_[0].bytes) {
    layout.runs_[0].bytes *= count;
    return layout;
  }
  if (!layout.levels_.empty()) {
    Level& outermost = layout.levels_.front();
    std::int64_t continued = 0;
    if (!__builtin_mul_overflow(outermost.extent, outermost.stride, &continued) && continued == stride) {
      outermost.extent *= count;
      return layout;
    }
  }
  layout.levels_.insert(layout.levels_.begin(), Level{count, stride});
  return layout;
}

Layout Layout::subarray(std::span<const std::int64_t> shape, std::span<const std::int64_t> start,
                        std::span<const std::int64_t> extent, std::int64_t element_bytes) {
  check_not_negative(element_bytes, "size of an element");
  check_box(shape, start, extent);
  if (element_bytes == 0 || std::ranges::count(extent, 0) > 0) {
    return {};
  }
  Layout box = contiguous(element_bytes);
  std::int64_t stride = element_bytes;
  std::int64_t offset = 0;
  for (std::size_t i = shape.size(); i-- > 0;) {
    box = strided(extent[i], stride, box);
    offset = distance_sum(offset, distance_product(start[i], stride));
    stride = distance_product(stride, shape[i]);
  }
  return box.displaced(offset);
}

Layout Layout::nest(std::int64_t offset, std::span<const Level> levels, std::int64_t element_bytes) {
  check_not_negative(element_bytes, "size of an element");
  for (const Level& level : levels) {
    check_not_negative(level.extent, "extent of a loop");
  }
  Layout layout = contiguous(element_bytes);
  for (const Level& level : levels | std::views::reverse) {
    layout = strided(level.extent, level.stride, layout);
  }
  return layout.displaced(offset);
}

Layout Layout::indexed(std::span<const std::int64_t> offsets, const Layout& part) {
  if (part.bytes_ == 0 || offsets.empty()) {
    return {};
  }
  std::vector<Run> copies;
  copies.reserve(offsets.size());
  for (const std::int64_t offset : offsets) {
    distance_sum(part.lower_bound_, offset);
    distance_sum(part.upper_bound_, offset);
    copies.push_back({distance_sum(offset, 0), 1});
  }
  const Repetition repetition = find_repetition_of_runs(std::move(copies));
  Layout layout;
  if (repetition.runs.size() == 1) {
    layout = part.displaced(repetition.runs[0].offset);
  } else {
    check_run_count(static_cast<std::int64_t>(repetition.runs.size()), count_runs(part));
    std::vector<Run> runs;
    for (const Run& copy : repetition.runs) {
      for (RunWalk walk(part); !walk.is_done(); walk.next()) {
        runs.push_back({walk.run().offset + copy.offset, walk.run().bytes});
      }
    }
    layout = indexed(runs);
  }
  for (const Level& level : repetition.levels | std::views::reverse) {
    layout = strided(level.extent, level.stride, layout);
  }
  return layout;
}

Layout Layout::indexed(std::span<const Run> runs) {
  Layout layout;
  layout.lower_bound_ = furthest_offset;
  layout.upper_bound_ = -furthest_offset;
  for (const Run& run : runs) {
    check_not_negative(run.bytes, "length of a run");
    if (run.bytes > 0) {
      layout.lower_bound_ = std::min(layout.lower_bound_, distance_sum(run.offset, 0));
      layout.upper_bound_ = std::max(layout.upper_bound_, distance_sum(run.offset, run.bytes));
      layout.bytes_ = distance_sum(layout.bytes_, run.bytes);
    }
  }
  if (layout.bytes_ == 0) {
    return {};
  }
  Repetition repetition = find_repetition(runs);
  check_run_count(1, static_cast<std::int64_t>(repetition.runs.size()));
  layout.levels_ = std::move(repetition.levels);
  layout.runs_ = std::move(repetition.runs);
  return layout;
}

Layout Layout::sequence(std::span<const Layout> parts) {
  std::vector<Run> runs;
  for (const Layout& part : parts) {
    check_run_count(1, static_cast<std::int64_t>(runs.size()) + count_runs(part));
    for (RunWalk walk(part); !walk.is_done(); walk.next()) {
      runs.push_back(walk.run());
    }
  }
  return indexed(runs);
}

Layout Layout::displaced(std::int64_t bytes) const {
  if (bytes_ == 0) {
    return {};
  }
  Layout layout = *this;
  layout.lower_bound_ = distance_sum(lower_bound_, bytes);
  layout.upper_bound_ = distance_sum(upper_bound_, bytes);
  for (Run& run : layout.runs_) {
    run.offset += bytes;
  }
  return layout;
}

std::size_t Layout::hash() const noexcept {
  std::uint64_t state = levels_.size();
  // The finaliser of SplitMix64 (Steele, Lea and Flood 2014) after each value.
  const auto mix = [&](std::int64_t value) {
    state += static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15U;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebU;
    state ^= state >> 31;
  };
  for (const Level& level : levels_) {
    mix(level.extent);
    mix(level.stride);
  }
  for (const Run& run : runs_) {
    mix(run.offset);
    mix(run.bytes);
  }
  return static_cast<std::size_t>(state);
}

void RunWalk::next() noexcept {
  if (++run_ < runs_.size()) {
    return;
  }
  for (std::size_t i = levels_.size(); i-- > 0;) {
    if (++index_[i] < levels_[i].extent) {
      base_ += levels_[i].stride;
      run_ = 0;
      return;
    }
    index_[i] = 0;
    base_ -= levels_[i].stride * (levels_[i].extent - 1);
  }
}

}  // namespace penstock::layout
