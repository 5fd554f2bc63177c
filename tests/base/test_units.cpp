// Quantities are written with three digits and a unit, and read back from what people type.
#include <gtest/gtest.h>

#include "penstock/base/base.hpp"

namespace penstock {
namespace {

TEST(FormatBytes, WritesThreeDigitsInBinaryUnits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{256} << 20), "256 MiB");
}

TEST(FormatSeconds, PicksTheUnit) {
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(format_seconds(2.5), "2.50 s");
  EXPECT_EQ(format_seconds(4e-7), "400 ns");
}

TEST(ParseBytes, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("4096"), 4096U);
  EXPECT_EQ(parse_bytes("1.5KiB"), 1536U);
  EXPECT_EQ(parse_bytes("2 GB"), 2000000000U);
}

TEST(ParseBytes, RefusesWhatIsNoSizeWithTheTextInTheMessage) {
  for (const char* text : {"", "many", "-1", "3 parsecs", "1e30", "nan"}) {
    EXPECT_THROW(parse_bytes(text), Error) << text;
  }
}

}  // namespace
}  // namespace penstock
