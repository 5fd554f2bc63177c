// Plans choose by the model, or by measuring; what was measured is kept as text, and foreign text is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

Options measured(const Extents& size) {
  return {.size = size, .effort = Effort::estimate, .planning = Planning::measure, .planning_budget_s = 5};
}

TEST(Planner, ChoosesTheCandidateThatIsPredictedBest) {
  gas::on_worlds({1, 2, 4, 6}, [](gas::Team& team) {
    const Plan<double> plan(team, {.size = {24, 25, 18}, .effort = Effort::estimate});
    const auto& candidates = plan.decision().candidates;
    ASSERT_FALSE(candidates.empty());
    EXPECT_EQ(candidates.front().grid, plan.decision().grid);
    EXPECT_EQ(candidates.front().grain, plan.decision().grain);
    for (const Candidate& candidate : candidates) {
      EXPECT_EQ(candidate.grid.ty * candidate.grid.tz, team.size());
      EXPECT_EQ(candidate.measured_s, 0);
    }
    const bool are_predicted = candidates.front().predicted_s > 0;
    const auto least = std::ranges::min_element(candidates, {}, &Candidate::predicted_s);
    EXPECT_TRUE(!are_predicted || candidates.front().predicted_s <= 1.03 * least->predicted_s);
    EXPECT_EQ(team.all_gather(candidates.front()).back(), candidates.front());
  });
}

TEST(Planner, KnowsWhatTheNetworkReachesWhereThereIsOne) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    const auto figures = gas::network_figures_of(team);
    const std::vector<int> nodes = team.placement().domains;
    ASSERT_EQ(figures == nullptr, std::ranges::count(nodes, nodes.front()) == team.size());
    if (figures == nullptr) {
      return;
    }
    EXPECT_EQ(gas::network_figures_of(team), figures);  // not measured again
    EXPECT_EQ(team.all_gather(figures->carrier).front(), figures->carrier);
    const machine::Machine machine = gas::with_network(machine::built_in(), *figures, figures->carrier, "mpi");
    EXPECT_EQ(machine::parse(machine::format(machine), "the machine"), machine);

    // Up to eight ranks have 64 KiB and more for one another, and so are predicted for.
    const Plan<double> plan(team, {.size = {64, 64, 64}, .effort = Effort::estimate});
    for (const Candidate& candidate : plan.decision().candidates) {
      EXPECT_GT(candidate.predicted_s, 0);
    }
    const auto& [modelled, run, is_known] = plan.decision().modelled;
    EXPECT_TRUE(is_known);
    EXPECT_EQ(run.nodes, std::ssize(std::set<int>(nodes.begin(), nodes.end())));
    EXPECT_EQ(run.nodes_per_host, run.nodes);
    const Candidate& chosen = plan.decision().candidates.front();
    EXPECT_DOUBLE_EQ(model::planned_fft_time(modelled, run).total_s, chosen.predicted_s);
  });
}

TEST(Planner, LeavesWhatTheUserHasChosen) {
  gas::on_worlds({2, 4}, [](gas::Team& team) {
    Options options = measured({24, 25, 18});
    options.grid = {team.size(), 1};
    options.grain = 2;
    const Plan<double> plan(team, options);
    EXPECT_EQ(plan.decision().grid, options.grid);
    EXPECT_EQ(plan.decision().grain, 2);
    EXPECT_EQ(plan.decision().candidates.size(), 1U);
  });
}

TEST(Planner, ChoosesTheCandidateThatWasMeasuredBestAndRemembersIt) {
  gas::on_worlds({2, 4}, [](gas::Team& team) {
    Options options = measured({24, 25, 18});
    options.choices = std::make_shared<Choices>();
    for (const Type type : {Type::c2c, Type::r2c, Type::r2r}) {
      options.type = type;
      const Plan<double> first(team, options);
      const auto& candidates = first.decision().candidates;
      if (team.size() == 1) {
        return;  // there is one way alone
      }
      ASSERT_GT(candidates.size(), 1U);
      for (const Candidate& candidate : candidates) {
        EXPECT_TRUE(candidate.measured_s == 0 || candidate.measured_s >= candidates.front().measured_s);
      }
      EXPECT_GT(candidates.front().measured_s, 0);

      const Plan<double> second(team, options);
      EXPECT_EQ(second.decision().grid, first.decision().grid);
      EXPECT_EQ(second.decision().candidates.front().measured_s, candidates.front().measured_s);
    }
    EXPECT_LE(worst_error<double>(team, measured({24, 25, 18})), tolerance<double>({24, 25, 18}));
  });
}

TEST(Choices, GoThroughTextAndRefuseWhatIsForeignOrDamaged) {
  Choices choices;
  const Candidate choice{.grid = {2, 3}, .grain = 4, .late_eighths = 3, .measured_s = 0.25};
  choices.keep("one problem", choice);
  choices.keep("another", {.grid = {1, 1}, .grain = 0, .measured_s = 1e-3});
  const std::string text = choices.text();
  Choices again;
  ASSERT_TRUE(again.read(text));
  EXPECT_EQ(again.find("one problem"), choice);
  EXPECT_EQ(again.text(), text);
  EXPECT_EQ(again.find("a third"), std::nullopt);

  for (const std::string& bad :
       {std::string(), std::string("something else\n"), text.substr(0, text.size() - 3),
        text + "one problem\t2\t3\t4\t0\n", text + "p\t0\t3\t4\t0\t1\n", text + "p\t2\t3\t4\t0\tfast\n",
        text + "p\t2\t3\t-1\t0\t1\n", text + "p\t2\t3\t4\t8\t1\n", text + "p\t2\t3\t4\t0\t1"}) {
    Choices other;
    EXPECT_FALSE(other.read(bad)) << bad;
    EXPECT_EQ(other.text(), Choices().text());
  }
}

}  // namespace
}  // namespace penstock::fft
