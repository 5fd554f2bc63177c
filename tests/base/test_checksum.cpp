// Checksums are XXH64's.
#include <gtest/gtest.h>

#include <span>
#include <string_view>

#include "penstock/base/checksum.hpp"

namespace penstock {
namespace {

std::uint64_t sum(std::string_view text) {
  return checksum(std::as_bytes(std::span(text)));
}

TEST(Checksum, IsThatOfThePublishedVectors) {
  EXPECT_EQ(sum(""), 0xEF46DB3751D8E999);
  EXPECT_EQ(sum("a"), 0xD24EC4F1A98C6E5B);
  EXPECT_EQ(sum("abc"), 0x44BC2CF5AD770999);
  EXPECT_EQ(sum("Call me Ishmael. Some years ago--never mind how long precisely-"), 0x02A2E85470D6FD96);
}

}  // namespace
}  // namespace penstock
