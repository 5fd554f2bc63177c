// What a fuzzer calls with its inputs: makes layouts of the bytes, holds them against their definitions, compiles
// copies between them, and runs these beside a copy byte by byte. Aborts on the first difference.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzzed_layout.hpp"
#include "penstock/base/error.hpp"
#include "penstock/mover/mover.hpp"
#include "tests/guarded_memory.hpp"

namespace penstock {
namespace {

using layout::Layout;
using layout::Run;
using mover::Code;
using mover::Hint;
using mover::Mover;

constexpr int max_depth = 6;

void require(bool is_so, std::string_view what, const Mover* mover = nullptr) {
  if (!is_so) {
    fmt::print(stderr, "wrong: {} ({})\n", what, mover != nullptr ? mover->describe() : "no mover");
    std::abort();
  }
}

/// Whether the layout says of itself what its list of bytes says.
void check(const FuzzedLayout& made) {
  const Layout& layout = made.layout;
  if (!made.bytes) {
    return;
  }
  const Bytes& bytes = *made.bytes;
  require(bytes_of(layout) == bytes, "the layout names other bytes than its definition");
  require(layout.bytes() == static_cast<std::int64_t>(bytes.size()), "the layout counts its bytes wrongly");
  std::vector<Run> runs;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  if (!bytes.empty()) {
    lowest = *std::ranges::min_element(bytes);
    highest = *std::ranges::max_element(bytes) + 1;
  }
  require(layout.lower_bound() == lowest && layout.upper_bound() == highest, "the layout's bounds are wrong");
  for (const std::int64_t byte : bytes) {
    runs.push_back({byte, 1});
  }
  const Layout same = Layout::indexed(runs);
  require(same == layout && same.hash() == layout.hash(), "the layout differs from one of the same bytes");
  require(layout.displaced(24).displaced(-24) == layout, "a layout moved there and back differs");
}

/// The first `count` bytes, as loops where that is all of them.
FuzzedLayout first_bytes(const FuzzedLayout& made, std::size_t count) {
  if (count == made.bytes->size()) {
    return made;
  }
  FuzzedLayout part{{}, Bytes(made.bytes->begin(), made.bytes->begin() + static_cast<std::ptrdiff_t>(count))};
  std::vector<Run> runs;
  for (const std::int64_t byte : *part.bytes) {
    runs.push_back({byte, 1});
  }
  part.layout = Layout::indexed(runs);
  return part;
}

FuzzedLayout packed(std::int64_t bytes) {
  FuzzedLayout made{Layout::contiguous(bytes), Bytes{}};
  for (std::int64_t i = 0; i < bytes; ++i) {
    made.bytes->push_back(i);
  }
  return made;
}

bool names_no_byte_twice(const FuzzedLayout& made) {
  Bytes sorted = *made.bytes;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end();
}

/// Where the movers read and write: one for each program.
class Bench {
 public:
  /// Compiles and runs the copy in several ways, the bytes of both layouts listed.
  void run(const FuzzedLayout& source, const FuzzedLayout& destination, FuzzedNumbers& numbers) {
    if (!fits(source_, source.layout) || !fits(destination_, destination.layout) || !names_no_byte_twice(destination)) {
      return;
    }
    source_.place(source.layout.lower_bound(), source.layout.upper_bound(), numbers.choice(1) == 0);
    destination_.place(destination.layout.lower_bound(), destination.layout.upper_bound(), numbers.choice(1) == 0);
    for (unsigned i = 0; std::byte & byte : source_.window()) {
      byte = static_cast<std::byte>(i * 7 + i / 251);
      ++i;
    }
    const bool is_used_often = numbers.choice(7) == 0;
    const Hint hint = numbers.choice(1) == 0 ? Hint::reuse : Hint::streaming;
    const std::int64_t bytes = source.layout.bytes();
    const std::int64_t one = std::min(bytes, (numbers.choice(255) * 256 + numbers.choice(255)) * bytes / 65536);
    const std::int64_t other = std::min(bytes, (numbers.choice(255) * 256 + numbers.choice(255)) * bytes / 65536);
    const auto [first, last] = std::minmax(one, other);
    const std::vector<std::byte> all = copy(source, destination, 0, bytes);
    const std::vector<std::byte> part = copy(source, destination, first, last);
    for (const Code code : {Code::never, Code::at_once, Code::when_hot}) {
      const Mover mover = Mover::compile(source.layout, destination.layout, hint, code);
      require(mover.bytes() == bytes, "the mover counts its bytes wrongly", &mover);
      for (int uses = code == Code::when_hot && is_used_often ? 40 : 1; uses > 0; --uses) {
        mover(source_.address(), destination_.address());
        require_moved(all, "the copy moved other bytes", mover);
      }
      mover.move_part(source_.address(), destination_.address(), first, last);
      require_moved(part, "the copy of a part moved other bytes", mover);
      mover.move_part(source_.address(), destination_.address(), last, bytes);
      mover.move_part(source_.address(), destination_.address(), 0, first);
      mover.move_part(source_.address(), destination_.address(), first, last);
      require_moved(all, "the copy in parts moved other bytes", mover);
    }
  }

 private:
  static bool fits(const GuardedMemory& memory, const Layout& layout) {
    return layout.bytes() > 0 && layout.upper_bound() - layout.lower_bound() <= memory.size();
  }

  std::vector<std::byte> copy(const FuzzedLayout& source, const FuzzedLayout& destination, std::int64_t first,
                              std::int64_t last) const {
    destination_.poison();
    for (std::int64_t i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      destination_.address()[(*destination.bytes)[at]] = source_.address()[(*source.bytes)[at]];
    }
    std::vector<std::byte> moved(destination_.window().begin(), destination_.window().end());
    destination_.poison();
    return moved;
  }

  void require_moved(const std::vector<std::byte>& expected, std::string_view what, const Mover& mover) const {
    mover::finish_streaming();
    require(std::ranges::equal(destination_.window(), expected), what, &mover);
    destination_.poison();
  }

  GuardedMemory source_{48};
  GuardedMemory destination_{48};
};

/// Layouts that no memory holds are compiled all the same.
void compile_only(const Layout& source, const Layout& destination) {
  try {
    Mover::compile(source, destination, Hint::reuse, Code::at_once);
  } catch (const Error&) {  // lists longer than a layout may have
  }
}

void run(FuzzedNumbers numbers) {
  static Bench bench;
  if (numbers.choice(3) == 0) {
    const FuzzedBoxes boxes = make_boxes(numbers);
    check(boxes.source);
    check(boxes.destination);
    if (boxes.source.bytes && boxes.destination.bytes) {
      bench.run(boxes.source, boxes.destination, numbers);
    }
    return;
  }
  const FuzzedLayout made = make_layout(numbers, max_depth);
  check(made);
  if (!made.bytes) {
    const Layout contiguous = Layout::contiguous(made.layout.bytes());
    compile_only(made.layout, contiguous);
    compile_only(contiguous, made.layout);
    return;
  }
  const FuzzedLayout contiguous = packed(made.layout.bytes());
  bench.run(made, contiguous, numbers);
  bench.run(contiguous, made, numbers);
  const FuzzedLayout other = make_layout(numbers, max_depth);
  check(other);
  if (other.bytes) {
    const std::size_t bytes = std::min(made.bytes->size(), other.bytes->size());
    bench.run(first_bytes(made, bytes), first_bytes(other, bytes), numbers);
  }
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    penstock::run(penstock::FuzzedNumbers({data, size}));
  } catch (const penstock::Error&) {  // a layout refused, with a message
  }
  return 0;
}
