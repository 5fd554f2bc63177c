// A chart becomes an SVG file with its names in it, or none.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "penstock/base/draft.hpp"
#include "penstock/lab/plot/plot.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::lab {
namespace {

Chart chart() {
  return {.title = "it's decay",
          .x_name = "time",
          .y_name = "energy",
          .right_name = "rate_of_loss",
          .x = {0, 1, 2},
          .series = {{"E", {1, 0.5, 0.25}}, {"loss", {100, 50, 25}, true}}};
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Plot, ShowsItsNamesAndBothAxes) {
  if (!can_draw()) {
    GTEST_SKIP() << "gnuplot is not here";
  }
  const TemporaryFolder folder(TemporaryFolder::in_memory());
  draw(chart(), folder / "it's.svg");
  const std::string svg = read_text(folder / "it's.svg");
  for (const char* name : {"it's decay", "time", "energy", "rate_of_loss", "loss", "> 100<", "> 0.3<"}) {
    EXPECT_TRUE(holds(svg, name)) << name;
  }
}

TEST(Plot, WithoutPointsLeavesNoFile) {
  if (!can_draw()) {
    GTEST_SKIP() << "gnuplot is not here";
  }
  const TemporaryFolder folder(TemporaryFolder::in_memory());
  EXPECT_TRUE(fails_with({"could not draw"}, [&] { draw(Chart{}, folder / "empty.svg"); }));
  EXPECT_FALSE(std::filesystem::exists(folder / "empty.svg"));
  EXPECT_FALSE(std::filesystem::exists(Draft::part_path(folder / "empty.svg")));
}

}  // namespace
}  // namespace penstock::lab
