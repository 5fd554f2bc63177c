#include "penstock/layout/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

Runs one_run(const Run& run) {
  return Runs(std::span(&run, 1));
}

// Each level repeats at least twice, so that a count of bytes in 63 bits bounds them.
constexpr std::size_t max_levels = 63;

Levels with_outermost(const Level& outermost, std::span<const Level> inside) {
  std::array<Level, max_levels> levels;
  levels[0] = outermost;
  std::ranges::copy(inside, levels.begin() + 1);
  return Levels(std::span<const Level>(levels).first(inside.size() + 1));
}

/// The runs in the list or, of a layout in parts, in all lists: what a copy of it costs.
std::int64_t stored_runs(const Layout& layout) {
  auto count = static_cast<std::int64_t>(layout.runs().size());
  for (const Layout& part : layout.parts()) {
    count += stored_runs(part);
  }
  return count;
}

std::int64_t count_runs(const Layout& layout) {
  auto count = static_cast<std::int64_t>(layout.runs().size());
  for (const Layout& part : layout.parts()) {
    count += count_runs(part);
  }
  for (const Level& level : layout.levels()) {
    count *= level.extent;  // at most the count of bytes, which fits
  }
  return count;
}

void append_runs(std::vector<Run>& runs, const Layout& layout, std::int64_t offset) {
  for (RunWalk walk(layout); !walk.is_done(); walk.next()) {
    runs.push_back({walk.run().offset + offset, walk.run().bytes});
  }
}

/// Lets `last` take in `next`, where both are loops around one run and the second goes on where the first ends; says
/// whether it did.
bool take_in(Layout& last, const Layout& next) {
  if (last.runs().size() != 1 || next.runs().size() != 1 || last.runs()[0].bytes != next.runs()[0].bytes ||
      last.levels().size() != next.levels().size() ||
      !std::ranges::equal(last.levels().subspan(1), next.levels().subspan(1))) {
    return false;
  }
  const Level& a = last.levels().front();
  const Level& b = next.levels().front();
  if (a.stride != b.stride || !a.ends_at(next.runs()[0].offset - last.runs()[0].offset)) {
    return false;
  }
  std::vector<Level> levels(last.levels().begin(), last.levels().end());
  levels.front().extent += b.extent;
  last = Layout::nest(last.runs()[0].offset, levels, last.runs()[0].bytes);
  return true;
}

void check_run_count(std::int64_t copies, std::int64_t runs) {
  std::int64_t total = 0;
  if (__builtin_mul_overflow(copies, runs, &total) || total > Layout::max_runs) {
    throw Error(fmt::format("a layout of {} irregular copies of {} runs exceeds the limit of {} runs: move it in parts",
                            copies, runs, Layout::max_runs));
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
    layout.runs_ = one_run({0, bytes});
    layout.bytes_ = bytes;
    layout.upper_bound_ = distance_sum(bytes, 0);
  }
  return layout;
}

// Of a part in normal form only the outermost loop can continue into the new one: were the whole to repeat with a
// period shorter than the part, that period would be the part's own.
Layout Layout::strided(std::int64_t count, std::int64_t stride, Layout part) {
  check_not_negative(count, "count of copies");
  if (count == 0 || part.bytes_ == 0) {
    return {};
  }
  Layout layout = std::move(part);
  if (count == 1) {
    return layout;
  }
  layout.bytes_ = count_bytes(count, layout.bytes_);
  const std::int64_t reach = distance_product(count - 1, stride);
  layout.lower_bound_ = distance_sum(layout.lower_bound_, std::min<std::int64_t>(reach, 0));
  layout.upper_bound_ = distance_sum(layout.upper_bound_, std::max<std::int64_t>(reach, 0));
  const std::span<const Level> inside = layout.levels();
  if (inside.empty() && layout.runs().size() == 1 && stride == layout.runs()[0].bytes) {
    layout.runs_ = one_run({layout.runs()[0].offset, stride * count});
    return layout;
  }
  Level outermost{count, stride};
  const bool is_continued = !inside.empty() && inside[0].ends_at(stride);
  if (is_continued) {
    outermost = {inside[0].extent * count, inside[0].stride};
  }
  layout.levels_ = with_outermost(outermost, inside.subspan(is_continued ? 1 : 0));
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
    box = strided(extent[i], stride, std::move(box));
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
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    layout = strided(level->extent, level->stride, std::move(layout));
  }
  return layout.displaced(offset);
}

Layout Layout::indexed(std::span<const std::int64_t> offsets, const Layout& part) {
  constexpr std::int64_t max_runs_of_a_copy_unrolled = 16;
  if (part.bytes_ == 0 || offsets.empty()) {
    return {};
  }
  if (part.levels().empty() && part.runs().size() == 1) {
    const Run run = part.runs()[0];
    std::vector<Run> runs;
    runs.reserve(offsets.size());
    for (const std::int64_t offset : offsets) {
      runs.push_back({distance_sum(offset, run.offset), run.bytes});
    }
    return list(std::move(runs));
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
    const auto copies_left = static_cast<std::int64_t>(repetition.runs.size());
    check_run_count(copies_left, stored_runs(part));
    if (count_runs(part) <= max_runs_of_a_copy_unrolled) {
      std::vector<Run> runs;
      runs.reserve(static_cast<std::size_t>(copies_left * count_runs(part)));
      for (const Run& copy : repetition.runs) {
        append_runs(runs, part, copy.offset);
      }
      layout = list(std::move(runs));
    } else {
      std::vector<Layout> parts;
      parts.reserve(repetition.runs.size());
      for (const Run& copy : repetition.runs) {
        parts.push_back(part.displaced(copy.offset));
      }
      layout = sequence(std::move(parts));
    }
  }
  for (auto level = repetition.levels.rbegin(); level != repetition.levels.rend(); ++level) {
    layout = strided(level->extent, level->stride, std::move(layout));
  }
  return layout;
}

Layout Layout::indexed(std::span<const Run> runs) {
  return list({runs.begin(), runs.end()});
}

Layout Layout::list(std::vector<Run> runs) {
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
  Repetition repetition = find_repetition(std::move(runs));
  check_run_count(1, static_cast<std::int64_t>(repetition.runs.size()));
  layout.levels_ = Levels(std::move(repetition.levels));
  layout.runs_ = Runs(std::move(repetition.runs));
  return layout;
}

Layout Layout::sequence(std::vector<Layout> parts) {
  // Up to so many runs a list costs less than the loops around it. Chosen, not measured: a list's entry is 16 bytes, a
  // part's some 200.
  constexpr std::int64_t max_runs_unrolled = 64;
  constexpr std::int64_t max_runs_of_a_part_unrolled = 16;
  std::int64_t all_runs = 0;
  for (const Layout& part : parts) {
    all_runs = distance_sum(all_runs, count_runs(part));
  }
  const std::int64_t most = all_runs <= max_runs_unrolled ? all_runs : max_runs_of_a_part_unrolled;
  std::vector<Layout> items;
  items.reserve(parts.size());
  std::vector<Run> list;
  const auto end_list = [&] {
    if (!list.empty()) {
      items.push_back(Layout::list(std::exchange(list, {})));
    }
  };
  const auto append = [&](const Layout& part) {
    if ((part.levels().empty() && part.parts().empty()) || count_runs(part) <= most) {
      append_runs(list, part, 0);
      check_run_count(1, static_cast<std::int64_t>(list.size()));
      return;
    }
    end_list();
    if (items.empty() || !take_in(items.back(), part)) {
      items.push_back(part);
    }
  };
  for (const Layout& part : parts) {
    if (part.levels().empty() && !part.parts().empty()) {
      std::ranges::for_each(part.parts(), append);
    } else if (part.bytes_ > 0) {
      append(part);
    }
  }
  end_list();
  if (items.empty()) {
    return {};
  }
  if (items.size() == 1) {
    return std::move(items.front());
  }
  Layout layout;
  layout.lower_bound_ = furthest_offset;
  layout.upper_bound_ = -furthest_offset;
  for (const Layout& item : items) {
    layout.bytes_ = distance_sum(layout.bytes_, item.bytes_);
    layout.lower_bound_ = std::min(layout.lower_bound_, item.lower_bound_);
    layout.upper_bound_ = std::max(layout.upper_bound_, item.upper_bound_);
  }
  layout.parts_ = std::make_shared<const std::vector<Layout>>(std::move(items));
  return layout;
}

Layout Layout::displaced(std::int64_t bytes) const {
  if (bytes_ == 0 || bytes == 0) {
    return *this;
  }
  Layout layout = *this;
  layout.lower_bound_ = distance_sum(lower_bound_, bytes);
  layout.upper_bound_ = distance_sum(upper_bound_, bytes);
  if (runs().size() == 1) {
    layout.runs_ = one_run({runs()[0].offset + bytes, runs()[0].bytes});
  } else if (!runs().empty()) {
    std::vector<Run> moved(runs().begin(), runs().end());
    for (Run& run : moved) {
      run.offset += bytes;
    }
    layout.runs_ = Runs(std::move(moved));
  }
  if (parts_ != nullptr) {
    std::vector<Layout> moved;
    moved.reserve(parts_->size());
    for (const Layout& part : *parts_) {
      moved.push_back(part.displaced(bytes));
    }
    layout.parts_ = std::make_shared<const std::vector<Layout>>(std::move(moved));
  }
  return layout;
}

}  // namespace penstock::layout
