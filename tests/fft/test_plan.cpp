// Plans refuse what they cannot do, on every rank alike, and live beside one another.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/fft/local_transform.hpp"
#include "tests/fails_with.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

TEST(Plan, RefusesSizesThatAreNone) {
  gas::on_worlds({1, 3}, [](gas::Team& team) {
    expect_refusal(team, estimated({0, 4, 4}), "0x4x4");
    expect_refusal(team, estimated({4, -1, 4}), "4x-1x4");
    constexpr std::int64_t many = std::numeric_limits<std::int64_t>::max();
    expect_refusal(team, estimated({many, many, many}), "more bytes than 64 bits can count");
    expect_refusal(team, estimated({1 << 20, 1 << 20, 1 << 10}), "of memory");
  });
}

TEST(Plan, RefusesGridsThatDoNotFitTheRanks) {
  gas::on_worlds({1, 2, 4}, [](gas::Team& team) {
    Options options = estimated({8, 8, 8});
    options.grid = {team.size() + 1, 1};
    expect_refusal(team, options, "ranks: the two must be equal");
    options.grid = {0, team.size()};
    expect_refusal(team, options, "both numbers must be at least 1");
    options.grid = {1 << 30, 1 << 30};
    expect_refusal(team, options, "ranks: the two must be equal");
  });
}

TEST(Plan, RefusesNumbersThatMeanNothing) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    Options options = estimated({8, 8, 8});
    options.planes_per_message = -1;
    expect_refusal(team, options, "-1 planes per message");
    options = estimated({8, 8, 8});
    options.deferred_parts = 8;
    expect_refusal(team, options, "8 deferred parts");
    options = estimated({8, 8, 8});
    options.threads = 0;
    expect_refusal(team, options, "0 threads");
    options = estimated({8, 8, 8});
    options.batch = 0;
    expect_refusal(team, options, "0 fields");
  });
}

TEST(Plan, RefusesArgumentsThatDifferBetweenRanks) {
  gas::on_worlds({2, 4}, [](gas::Team& team) {
    if (team.size() == 1) {
      return;
    }
    expect_refusal(team, estimated({8, 8, team.rank() == 1 ? 16 : 8}), "the ranks differ");
    expect_refusal(team, estimated({8, 8, team.rank() == 1 ? 0 : 8}),
                   "at least 1 point");  // one rank's mistake alone
  });
}

TEST(Plan, RefusesABudgetThatDoesNotFitAndSaysHowMuchItWants) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    Options options = estimated({64, 64, 64});
    const MemoryNeed need = memory_need<double>(team, options);
    std::uint64_t all_bytes = 0;
    for (const std::uint64_t bytes : team.all_gather(need.exchange_bytes)) {
      all_bytes += bytes;
    }
    EXPECT_GE(all_bytes, 64U * 64 * 64 * 16);
    options.memory_budget_bytes = 1 << 20;
    expect_refusal(team, options, "which has 1.00 MiB");
    options.memory_budget_bytes = 2 * static_cast<std::uint64_t>(team.size()) * need.total_bytes();
    const Plan<double> plan(team, options);
    EXPECT_EQ(plan.memory().total_bytes(), need.total_bytes());
  });
}

TEST(Plan, RefusesArraysThatAreTooShortOrOfTheOtherType) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    using Complex = std::complex<double>;
    const auto refused = [&](std::string_view part, const std::function<void(Plan<double>&)>& call) {
      Plan<double> plan(team, estimated({14, 14, 14}));
      EXPECT_TRUE(fails_with({"rank ", part}, [&] { call(plan); }));
    };
    std::vector<Complex> short_field(1), field(14 * 14 * 14);
    std::vector<double> real_field(14 * 14 * 14);
    const std::span<Complex> out(field);
    refused("too short", [&](auto& plan) { plan.forward(std::span<const Complex>(short_field), out); });
    refused("too short", [&](auto& plan) { plan.forward(std::span<const Complex>(field), std::span(short_field)); });
    refused("of type c2c", [&](auto& plan) { plan.forward(std::span<const double>(real_field), out); });
    refused("of type c2c", [&](auto& plan) { plan.backward(std::span<const Complex>(field), std::span(real_field)); });
  });
}

TEST(Plan, LivesBesideOthersAndCanBeMoved) {
  gas::on_worlds({1, 3}, [](gas::Team& team) {
    const Extents size{8, 6, 10};
    Plan<double> first(team, estimated(size));
    Plan<double> second(team, estimated(size));
    Plan<double> moved = std::move(first);
    const auto in = make_field<double>(size, moved.input(), Type::c2c, 0);
    std::vector<std::complex<double>> a(static_cast<std::size_t>(moved.output_stride())), b = a;
    moved.forward(std::span(in), std::span(a));
    second.forward(std::span(in), std::span(b));
    EXPECT_EQ(a, b);
    const Reference reference = transform_by_definition<double>(estimated(size), 0);
    EXPECT_LE(relative_error(team, compare(size, moved.output(), a.data(), *reference, 1)), tolerance<double>(size));
  });
}

TEST(Plan, TakesArraysThatBeginAnywhere) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    const Extents size{64, 12, 10};
    const Options options = estimated(size);
    Plan<float> plan(team, options);
    const auto field = make_field<float>(size, plan.input(), Type::c2c, 0);
    const Reference reference = transform_by_definition<float>(options, 0);
    const auto count = static_cast<std::size_t>(plan.output_stride());
    for (const std::size_t shift : {0U, 1U, 2U, 3U}) {
      std::vector<std::complex<float>> in(shift);
      in.insert(in.end(), field.begin(), field.end());
      std::vector<std::complex<float>> out(shift + count);
      plan.forward(std::span(std::as_const(in)).subspan(shift), std::span(out).subspan(shift));
      EXPECT_LE(relative_error(team, compare(size, plan.output(), out.data() + shift, *reference, 1)),
                tolerance<float>(size));
      EXPECT_TRUE(std::equal(field.begin(), field.end(), in.begin() + static_cast<std::ptrdiff_t>(shift)));
    }
  });
}

TEST(Plan, IsTheSameOnRanksWhoseMachinesAndThreadsDiffer) {
  gas::on_worlds({2, 3}, [](gas::Team& team) {
    Options options = estimated({16, 12, 10});
    options.threads = 1 + team.rank() % 2;
    options.machine = machine::detect();
    options.machine->node.cache_bytes = team.rank() == 0 ? 1 << 12 : 1 << 25;  // too small for a plane on rank 0
    options.machine->node.cache_l2_bytes = team.rank() == 0 ? 1 << 12 : 1 << 20;
    EXPECT_LE(worst_error<double>(team, options), tolerance<double>(options.size));
    EXPECT_FALSE(Plan<double>(team, options).decision().is_plane_in_cache);
  });
}

TEST(Plan, SaysWhereItsTimeWentAndWhatItDecided) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    const Extents size{32, 32, 32};
    Plan<double> plan(team, estimated(size));
    EXPECT_EQ(plan.decision().tuning.grid, (Grid{1, team.size()}));
    EXPECT_TRUE(plan.decision().is_plane_in_cache);
    EXPECT_EQ(plan.decision().passes, 2);
    // The floor: two reads and two writes of the field, whose plane between the first two directions stays in cache.
    constexpr std::uint64_t field_bytes = 32 * 32 * 32 * sizeof(std::complex<double>);
    for (const auto& stages : {plan.decision().forward_stages, plan.decision().backward_stages}) {
      std::uint64_t read = 0, written = 0;
      for (const StagePlan& stage : stages) {
        read += stage.bytes_read;
        written += stage.bytes_written;
      }
      const auto all_read = team.all_gather(read), all_written = team.all_gather(written);
      EXPECT_EQ(std::accumulate(all_read.begin(), all_read.end(), std::uint64_t{0}), 2 * field_bytes);
      EXPECT_EQ(std::accumulate(all_written.begin(), all_written.end(), std::uint64_t{0}), 2 * field_bytes);
    }
    std::vector<std::complex<double>> field(static_cast<std::size_t>(plan.output_stride()));
    plan.forward(std::span<const std::complex<double>>(field), std::span(field));
    const Breakdown& time = plan.last_breakdown();
    EXPECT_GT(time.transform_s(), 0);
    EXPECT_GT(time.move_s(), 0);
    EXPECT_LE(time.transform_s() + time.move_s() + time.wait_s(), time.total_s * 1.001);
  });
}

// Each exchange brings a rank the points of its next box that others have: the boxes say how many.
TEST(Plan, SaysWhatEachRankHasBeforeAStageAndSendsAfterIt) {
  gas::on_worlds({1, 2, 3, 4, 6}, [](gas::Team& team) {
    for (const std::array<int, 3>& sequence : {std::array{0, 1, 2}, std::array{2, 0, 1}}) {
      const Extents size{7, 12, 9};
      Options options = estimated(size);
      options.sequence = sequence;
      options.output = Output::as_input;
      const Plan<double> plan(team, options);
      const std::vector<StagePlan>& stages = plan.decision().forward_stages;
      for (std::size_t i = 0; i < stages.size(); ++i) {
        const std::vector<Box> before = team.all_gather(stages[i].box);
        const Box& ends_in = i + 1 < stages.size() ? stages[i + 1].box : plan.output().box;
        const std::vector<Box> after = team.all_gather(ends_in);
        std::int64_t points = 0;
        for (const Box& box : before) {
          points += box.count();
        }
        EXPECT_EQ(points, 7 * 12 * 9);
        std::uint64_t messages = 0;
        for (const SentTo& to : stages[i].sent) {
          const Box common = shape::intersect(stages[i].box, after[static_cast<std::size_t>(to.rank)]);
          EXPECT_EQ(to.bytes, static_cast<std::uint64_t>(common.count()) * sizeof(std::complex<double>));
          messages += to.messages;
        }
        EXPECT_GE(messages, stages[i].sent.size());
        // Nothing is sent where all have what they need already.
        EXPECT_TRUE(before == after ||
                    team.all_gather(stages[i].sent.size()) != std::vector<std::size_t>(before.size()));
      }
      EXPECT_EQ(stages.front().box, plan.input().box);
    }
  });
}

// What measuring finds best, here told, may want more memory than what the estimate takes: passes more than rows.
TEST(Plan, LendsTransformsWhatMeasuredOnesWant) {
  constexpr std::array names{"adjacent", "contiguous", "apart"};
  std::string learned;
  for (const char* way : {"forward", "backward"}) {
    for (const char* source : names) {
      for (const char* destination : names) {
        for (int pencils = 1; pencils <= 32; ++pencils) {
          learned += fmt::format("{} 256 {} {} {} double portable: passes 4 8 8\n", way, source, destination, pencils);
        }
      }
    }
  }
  ASSERT_TRUE(find_library("penstock", RowKind::forward)->import_learned(learned));
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    Options options = estimated({256, 4, 4});
    options.instruction_set = InstructionSet::portable;
    options.local = "penstock";
    const std::uint64_t estimated_bytes = Plan<double>(team, options).memory().scratch_bytes;
    options.effort = Effort::measure;
    const std::uint64_t bytes = Plan<double>(team, options).memory().scratch_bytes;
    EXPECT_GE(bytes, estimated_bytes);
    if (team.size() <= 2) {  // in pieces of uneven parts, which others receive, rows are not taken
      EXPECT_GT(bytes, estimated_bytes);
    }
    EXPECT_LE(worst_error<double>(team, options), tolerance<double>(options.size));
  });
}

TEST(Wisdom, TellsAndReadsWhatLocalTransformsHaveLearned) {
  gas::on_worlds({1}, [](gas::Team& team) {
    Wisdom wisdom;
    Options options = estimated({42, 8, 8});
    const Plan<double> estimated(team, options);
    EXPECT_EQ(wisdom.text().find("forward 42 "), std::string::npos);
    options.effort = Effort::measure;
    const Plan<double> plan(team, options);
    const std::string text = wisdom.text();
    EXPECT_NE(text.find("forward 42 "), std::string::npos);
    EXPECT_TRUE(wisdom.read(text));
    EXPECT_EQ(wisdom.text(), text);
    EXPECT_LE(worst_error<double>(team, options), tolerance<double>(options.size));
    EXPECT_FALSE(wisdom.read(""));
    EXPECT_FALSE(wisdom.read("rubbish"));
    EXPECT_FALSE(wisdom.read(text.substr(0, text.find("forward 42 ") + 10) + "\n"));
    EXPECT_EQ(wisdom.text(), text);
  });
}

}  // namespace
}  // namespace penstock::fft
