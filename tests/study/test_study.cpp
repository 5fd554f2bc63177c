// Models asked by options, as texts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/study/study.hpp"
#include "tests/fails_with.hpp"

namespace penstock::study {
namespace {

std::string ask(const std::string& model, const std::vector<std::string>& arguments) {
  return json_of(model, arguments);
}

TEST(Study, AnswersEachPointOfASweep) {
  OptionedStudy optioned = fft_study();
  for (const Option& option : optioned.options) {
    if (option.name == "--machine") {
      option.take("fugaku");
    } else if (option.name == "--sweep") {
      option.take("nodes=16..64:x2");
    }
  }
  const Answer all = answer(*optioned.study, *optioned.asked);
  ASSERT_EQ(all.points.size(), 3U);
  EXPECT_EQ(all.key, "nodes");
  EXPECT_EQ(all.points[2].swept, 64);
  EXPECT_FALSE(all.points[0].gains.empty());
  EXPECT_EQ(to_json(*optioned.study, all), ask("fft", {"--machine", "fugaku", "--sweep", "nodes=16..64:x2"}));
}

TEST(Study, TakesTheNumbersThatOptionsNameAndSet) {
  const std::string by_option = ask("gemm", {"--machine", "frontier", "--n", "65536", "--no-layers", "--nodes", "8"});
  EXPECT_EQ(by_option, ask("gemm", {"--nodes", "8", "--set", "n=65536", "--no-layers", "--machine", "frontier"}));
  EXPECT_NE(by_option, ask("gemm", {"--nodes", "8", "--machine", "frontier"}));
}

TEST(Study, RefusesWhatItIsNotAsked) {
  EXPECT_TRUE(fails_with({"'weather' is no model"}, [] { ask("weather", {}); }));
  EXPECT_TRUE(fails_with({"no option --colour"}, [] { ask("fft", {"--colour", "red"}); }));
  EXPECT_TRUE(fails_with({"--nodes needs N"}, [] { ask("fft", {"--nodes"}); }));
  EXPECT_TRUE(fails_with({"at least 1"}, [] { ask("fft", {"--nodes", "0"}); }));
  EXPECT_TRUE(fails_with({"given twice"}, [] { ask("fft", {"--nodes", "1", "--nodes", "1"}); }));
  EXPECT_TRUE(fails_with({"numbers of the model are"}, [] { ask("plan", {"--set", "colour=1"}); }));
  EXPECT_TRUE(fails_with({"numbers of the model are", "nodes"}, [] { ask("fft", {"--sweep", "node=1..8:x2"}); }));
}

}  // namespace
}  // namespace penstock::study
