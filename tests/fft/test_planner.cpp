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
#include "penstock/model/model.hpp"
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
    EXPECT_EQ(candidates.front().tuning, plan.decision().tuning);
    for (const Candidate& candidate : candidates) {
      EXPECT_EQ(candidate.tuning.grid.ty * candidate.tuning.grid.tz, team.size());
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
    const auto figures = gas::network_rates_of(team);
    const std::vector<int> nodes = team.placement().domains;
    ASSERT_EQ(figures == nullptr, std::ranges::count(nodes, nodes.front()) == team.size());
    if (figures == nullptr) {
      return;
    }
    EXPECT_EQ(gas::network_rates_of(team), figures);  // not measured again
    EXPECT_EQ(team.all_gather(figures->carrier).front(), figures->carrier);
    const machine::Machine machine = gas::with_network(machine::built_in(), *figures, figures->carrier, "mpi");
    EXPECT_EQ(machine::parse(machine::format(machine), "the machine"), machine);

    // Up to eight ranks have 64 KiB and more for one another, and so are predicted for.
    const Plan<double> plan(team, {.size = {64, 64, 64}, .effort = Effort::estimate});
    for (const Candidate& candidate : plan.decision().candidates) {
      EXPECT_GT(candidate.predicted_s, 0);
    }
    const Decision& decision = plan.decision();
    ASSERT_NE(decision.modelled, nullptr);
    const model::PlannedFft& run = *decision.modelled;
    EXPECT_EQ(run.nodes, std::ssize(std::set<int>(nodes.begin(), nodes.end())));
    EXPECT_EQ(run.nodes_per_host, run.nodes);
    EXPECT_EQ(run.tuning, decision.tuning);
    EXPECT_DOUBLE_EQ(model::planned_fft_time(decision.machine, run).total_s, decision.candidates.front().predicted_s);
  });
}

TEST(Planner, LeavesWhatTheUserHasChosen) {
  gas::on_worlds({2, 4}, [](gas::Team& team) {
    Options options = measured({24, 25, 18});
    options.grid = {team.size(), 1};
    options.planes_per_message = 2;
    options.deferred_parts = 3;
    const Plan<double> plan(team, options);
    EXPECT_EQ(plan.decision().tuning, (Tuning{options.grid, 2, 3}));
    EXPECT_EQ(plan.decision().candidates.size(), 1U);
  });
}

TEST(Planner, ChoosesTheCandidateThatWasMeasuredBestAndRemembersIt) {
  gas::on_worlds({2, 4}, [](gas::Team& team) {
    Options options = measured({24, 25, 18});
    options.wisdom = std::make_shared<Wisdom>();
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
      EXPECT_EQ(second.decision().tuning, first.decision().tuning);
      EXPECT_EQ(second.decision().candidates.front().measured_s, candidates.front().measured_s);
    }
    EXPECT_LE(worst_error<double>(team, measured({24, 25, 18})), tolerance<double>({24, 25, 18}));
  });
}

TEST(Wisdom, GoesThroughTextAndRefusesWhatIsForeignOrDamaged) {
  Wisdom wisdom;
  const Candidate best{.tuning = {.grid = {2, 3}, .planes_per_message = 4, .deferred_parts = 3}, .measured_s = 0.25};
  wisdom.keep("one problem", best);
  wisdom.keep("another\tone", {.tuning = {.grid = {1, 1}}, .measured_s = 1e-3});
  const std::string text = wisdom.text();
  Wisdom again;
  ASSERT_TRUE(again.read(text));
  EXPECT_EQ(again.find("one problem"), best);
  EXPECT_EQ(again.text(), text);
  EXPECT_TRUE(again.find("another\tone"));  // tabs and line ends are kept as spaces
  EXPECT_EQ(again.find("a third"), std::nullopt);

  const std::string mark = text.substr(0, text.find('\n') + 1);
  const std::string tuning = "2x3 planes_per_message 4 deferred_parts 0";
  ASSERT_TRUE(Wisdom().read(mark + "p\t" + tuning + "\t1\n"));
  for (const std::string& bad :
       {std::string(), std::string("something else\n"), text.substr(0, text.size() - 1), mark + "p\t" + tuning + "\n",
        mark + "p\t" + tuning + "\tfast\n", mark + "p\t" + tuning + "\t0\n", mark + "p\t" + tuning + "\tinf\n",
        mark + "p\t0x3 planes_per_message 4 deferred_parts 0\t1\n", mark + "p\t" + tuning + "\t1"}) {
    SCOPED_TRACE(bad);
    Wisdom other;
    EXPECT_FALSE(other.read(bad));
    EXPECT_EQ(other.text(), Wisdom().text());
  }
}

}  // namespace
}  // namespace penstock::fft
