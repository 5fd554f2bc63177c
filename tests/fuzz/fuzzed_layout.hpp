// Layouts made from the bytes of a fuzzer, each beside the list of its bytes made from the constructors' definitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/layout/layout.hpp"

namespace penstock {

using Bytes = std::vector<std::int64_t>;

/// The offsets of a layout's bytes in order, as its walk gives them.
Bytes bytes_of(const layout::Layout& layout);

/// Reads numbers from a fuzzer's input; zeros follow its end.
class FuzzedNumbers {
 public:
  explicit FuzzedNumbers(std::span<const std::uint8_t> input) : input_(input) {}

  bool is_at_end() const { return input_.empty(); }
  /// From 0 to `most`, at most 255.
  int choice(int most);
  /// Most often small, sometimes of 16 bits, now and then any number of 64 bits.
  std::int64_t number();
  /// Most often 0 to 15, and seldom negative.
  std::int64_t count();

 private:
  std::uint8_t byte();

  std::span<const std::uint8_t> input_;
};

/// A layout, and its bytes where they are few enough to be listed.
struct FuzzedLayout {
  layout::Layout layout;
  std::optional<Bytes> bytes;
};

/// A layout of nested constructors, up to `depth` deep. Throws Error as the constructors do.
FuzzedLayout make_layout(FuzzedNumbers& numbers, int depth);

/// Two boxes of the same extents whose dimensions lie in memory in different orders.
struct FuzzedBoxes {
  FuzzedLayout source;
  FuzzedLayout destination;
};
FuzzedBoxes make_boxes(FuzzedNumbers& numbers);

}  // namespace penstock
