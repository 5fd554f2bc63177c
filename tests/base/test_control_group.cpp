// A limit of memory is imposed, or says why not, and ends with its object.
#include <gtest/gtest.h>

#include "penstock/base/control_group.hpp"

namespace penstock {
namespace {

TEST(MemoryLimit, IsInAGroupOfItsOwnOrSaysWhyNotAndGoesBack) {
  const std::string before = memory_group_identity();
  {
    const MemoryLimit limit(std::uint64_t{1} << 40);
    EXPECT_TRUE(limit.is_imposed() || !limit.why_not().empty());
    EXPECT_EQ(memory_group_identity() != before, limit.is_imposed()) << limit.why_not();
  }
  EXPECT_EQ(memory_group_identity(), before);
}

}  // namespace
}  // namespace penstock
