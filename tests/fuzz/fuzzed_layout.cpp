#include "fuzzed_layout.hpp"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

using layout::Layout;
using layout::Level;
using layout::Run;

constexpr std::int64_t max_bytes = std::int64_t{1} << 13;
constexpr std::int64_t max_reach = std::int64_t{1} << 16;

bool is_far(std::int64_t distance) {
  return distance > max_reach || distance < -max_reach;
}

/// Adds a copy of `part` at `offset`; forgets the list where it would grow too long, or the part has none.
void append(std::optional<Bytes>& bytes, std::int64_t offset, const std::optional<Bytes>& part) {
  if (!bytes || !part || static_cast<std::int64_t>(bytes->size() + part->size()) > max_bytes || is_far(offset)) {
    bytes.reset();
    return;
  }
  for (const std::int64_t byte : *part) {
    bytes->push_back(offset + byte);
  }
}

std::optional<Bytes> run_of(std::int64_t count) {
  if (count > max_bytes) {
    return std::nullopt;
  }
  Bytes bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    bytes.push_back(i);
  }
  return bytes;
}

/// Copies `stride` bytes apart. Also called with what the constructors refuse: then it lists anything or nothing.
std::optional<Bytes> repeat(std::int64_t count, std::int64_t stride, const std::optional<Bytes>& part) {
  if (count <= 0 || (part && part->empty())) {
    return Bytes{};
  }
  if (!part || count > max_bytes || is_far(stride)) {
    return count == 1 ? part : std::nullopt;
  }
  std::optional<Bytes> all(Bytes{});
  for (std::int64_t i = 0; i < count; ++i) {
    append(all, i * stride, part);
  }
  return all;
}

std::optional<Bytes> displace(const std::optional<Bytes>& part, std::int64_t offset) {
  std::optional<Bytes> all(Bytes{});
  if (part && !part->empty()) {
    append(all, offset, part);
  }
  return part ? all : std::nullopt;
}

FuzzedLayout make_contiguous(FuzzedNumbers& numbers) {
  const std::int64_t bytes = numbers.choice(3) == 0 ? numbers.number() : numbers.choice(40);
  return {Layout::contiguous(bytes), run_of(bytes)};
}

FuzzedLayout make_strided(FuzzedNumbers& numbers, int depth) {
  const std::int64_t count = numbers.count();
  const std::int64_t stride = numbers.number();
  const FuzzedLayout part = make_layout(numbers, depth - 1);
  return {Layout::strided(count, stride, part.layout), repeat(count, stride, part.bytes)};
}

FuzzedLayout make_subarray(FuzzedNumbers& numbers) {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> extent;
  for (int i = numbers.choice(4); i > 0; --i) {
    extent.push_back(numbers.count());
    start.push_back(numbers.choice(7) == 0 ? numbers.number() : numbers.choice(5));
    const std::int64_t rest = numbers.choice(7) == 0 ? numbers.number() : numbers.choice(5);
    if (__builtin_add_overflow(extent.back(), start.back(), &shape.emplace_back()) ||
        __builtin_add_overflow(shape.back(), rest, &shape.back())) {
      shape.back() = rest;
    }
  }
  const std::int64_t element_bytes = numbers.choice(7) == 0 ? numbers.number() : numbers.choice(16);
  FuzzedLayout box{Layout::subarray(shape, start, extent, element_bytes), run_of(element_bytes)};
  std::int64_t stride = element_bytes;
  std::int64_t origin = 0;
  for (std::size_t i = shape.size(); i-- > 0;) {
    box.bytes = repeat(extent[i], stride, box.bytes);
    std::int64_t distance = 0;
    if (__builtin_mul_overflow(start[i], stride, &distance) || __builtin_add_overflow(origin, distance, &origin) ||
        __builtin_mul_overflow(stride, shape[i], &stride)) {
      box.bytes.reset();
      return box;
    }
  }
  box.bytes = displace(box.bytes, origin);
  return box;
}

FuzzedLayout make_nest(FuzzedNumbers& numbers) {
  const std::int64_t offset = numbers.number();
  std::vector<Level> levels;
  for (int i = numbers.choice(5); i > 0; --i) {
    const std::int64_t extent = numbers.count();
    levels.push_back({extent, numbers.number()});
  }
  const std::int64_t element_bytes = numbers.choice(7) == 0 ? numbers.number() : numbers.choice(16);
  FuzzedLayout nest{Layout::nest(offset, levels, element_bytes), run_of(element_bytes)};
  for (std::size_t i = levels.size(); i-- > 0;) {
    nest.bytes = repeat(levels[i].extent, levels[i].stride, nest.bytes);
  }
  nest.bytes = displace(nest.bytes, offset);
  return nest;
}

/// Longer lists than this only take time.
constexpr std::int64_t max_runs = std::int64_t{1} << 18;

/// The runs in a layout's lists.
std::int64_t stored_runs(const Layout& layout) {
  auto count = static_cast<std::int64_t>(layout.runs().size());
  for (const Layout& part : layout.parts()) {
    count += stored_runs(part);
  }
  return count;
}

FuzzedLayout make_indexed_part(FuzzedNumbers& numbers, int depth) {
  const FuzzedLayout part = make_layout(numbers, depth - 1);
  std::vector<std::int64_t> offsets;
  std::optional<Bytes> bytes(Bytes{});
  const bool is_even = numbers.choice(3) == 0;
  const std::int64_t step = is_even ? numbers.number() : 0;
  const std::int64_t most = max_runs / std::max<std::int64_t>(1, stored_runs(part.layout));
  for (std::int64_t i = std::min<std::int64_t>(numbers.choice(40), most); i > 0 && !numbers.is_at_end(); --i) {
    std::int64_t offset = 0;
    if (!is_even || offsets.empty()) {
      offset = numbers.number();
    } else if (__builtin_add_overflow(offsets.back(), step, &offset)) {
      offset = step;
    }
    offsets.push_back(offset);
    if (part.layout.bytes() > 0) {
      append(bytes, offset, part.bytes);
    }
  }
  return {Layout::indexed(offsets, part.layout), bytes};
}

FuzzedLayout make_indexed_runs(FuzzedNumbers& numbers) {
  std::vector<Run> runs;
  std::optional<Bytes> bytes(Bytes{});
  std::int64_t end = 0;
  for (std::int64_t i = numbers.choice(60); i > 0 && !numbers.is_at_end(); --i) {
    const std::int64_t gap = numbers.number();
    const std::int64_t length = numbers.choice(30) == 0 ? numbers.number() : numbers.choice(12);
    Run run{gap, length};
    if (!is_far(end) && !is_far(gap)) {
      run.offset += end;
    }
    runs.push_back(run);
    if (length > 0) {
      append(bytes, run.offset, run_of(length));
      end = is_far(run.offset) || is_far(length) ? 0 : run.offset + length;
    }
  }
  return {Layout::indexed(runs), bytes};
}

FuzzedLayout make_sequence(FuzzedNumbers& numbers, int depth) {
  std::vector<Layout> parts;
  std::optional<Bytes> bytes(Bytes{});
  std::int64_t runs = 0;
  for (std::int64_t i = numbers.choice(12); i > 0 && !numbers.is_at_end(); --i) {
    const FuzzedLayout part = make_layout(numbers, depth - 1);
    runs += stored_runs(part.layout);
    if (runs > max_runs) {
      break;
    }
    parts.push_back(part.layout);
    append(bytes, 0, part.bytes);
  }
  return {Layout::sequence(parts), bytes};
}

FuzzedLayout make_displaced(FuzzedNumbers& numbers, int depth) {
  const std::int64_t offset = numbers.number();
  const FuzzedLayout part = make_layout(numbers, depth - 1);
  return {part.layout.displaced(offset), displace(part.bytes, offset)};
}

}  // namespace

Bytes bytes_of(const layout::Layout& layout) {
  Bytes bytes;
  for (layout::RunWalk walk(layout); !walk.is_done(); walk.next()) {
    for (std::int64_t i = 0; i < walk.run().bytes; ++i) {
      bytes.push_back(walk.run().offset + i);
    }
  }
  return bytes;
}

std::uint8_t FuzzedNumbers::byte() {
  if (input_.empty()) {
    return 0;
  }
  const std::uint8_t value = input_.front();
  input_ = input_.subspan(1);
  return value;
}

int FuzzedNumbers::choice(int most) {
  return byte() % (most + 1);
}

std::int64_t FuzzedNumbers::number() {
  const int kind = byte();
  if (kind < 160) {
    return kind - 40;
  }
  if (kind < 220) {
    return std::int64_t{8} * (kind - 190);
  }
  std::uint64_t bits = 0;
  const int size = kind < 250 ? 2 : 8;
  for (int i = 0; i < size; ++i) {
    bits = bits << 8 | byte();
  }
  return size == 2 ? static_cast<std::int16_t>(bits) : static_cast<std::int64_t>(bits);
}

std::int64_t FuzzedNumbers::count() {
  const int kind = byte();
  return kind < 224 ? kind % 16 : kind < 250 ? byte() : number();
}

FuzzedLayout make_layout(FuzzedNumbers& numbers, int depth) {
  switch (depth == 0 || numbers.is_at_end() ? 0 : numbers.choice(11)) {
    case 1:
    case 2:
    case 3:
      return make_strided(numbers, depth);
    case 4:
      return make_subarray(numbers);
    case 5:
      return make_nest(numbers);
    case 6:
    case 7:
      return make_indexed_part(numbers, depth);
    case 8:
      return make_indexed_runs(numbers);
    case 9:
    case 10:
      return make_sequence(numbers, depth);
    case 11:
      return make_displaced(numbers, depth);
    default:
      return make_contiguous(numbers);
  }
}

FuzzedBoxes make_boxes(FuzzedNumbers& numbers) {
  const std::int64_t element_bytes = 1 + numbers.choice(3) * numbers.choice(16);
  std::vector<std::int64_t> extents;
  for (int i = numbers.choice(4); i > 0; --i) {
    extents.push_back(1 + numbers.choice(40));
  }
  const auto make_box = [&] {
    std::vector<std::size_t> order;  // from the fastest in memory
    for (std::size_t i = 0; i < extents.size(); ++i) {
      order.insert(order.begin() + numbers.choice(static_cast<int>(i)), i);
    }
    std::vector<Level> levels(extents.size());
    std::int64_t stride = element_bytes;
    for (const std::size_t i : order) {
      stride += numbers.choice(3) == 0 ? numbers.choice(64) : 0;
      levels[i] = {extents[i], numbers.choice(5) == 0 ? -stride : stride};
      stride *= extents[i];
    }
    FuzzedLayout box{Layout::nest(0, levels, element_bytes), run_of(element_bytes)};
    for (std::size_t i = levels.size(); i-- > 0;) {
      box.bytes = repeat(levels[i].extent, levels[i].stride, box.bytes);
    }
    return box;
  };
  FuzzedLayout source = make_box();
  return {std::move(source), make_box()};
}

}  // namespace penstock
