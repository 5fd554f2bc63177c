// Plans on devices that have not the memory for the blocks of exchanges: these lie in host memory, and chunks of planes
// pass over the bus. On systems without a device nothing runs, and the tests say so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fails_with.hpp"
#include "tests/fft/device_checks.hpp"
#include "tests/fft/draws.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

using gas::on_worlds;

/// Collective: the smallest budget that has room for what a plan takes on every rank, which is `options` with a budget.
template <class Real>
std::uint64_t taken_bytes(const gas::Team& team, Options options, Fields fields, std::uint64_t budget_bytes) {
  options.memory_budget_bytes = budget_bytes;
  const DevicePlan<Real> plan(team, device::open(), options, place_of(fields));
  EXPECT_EQ(plan.forward_stages().back().pass > 0, budget_bytes > 0);
  return team.largest(plan.memory().device_bytes * sharers(team));
}

/// Collective: a budget in which blocks do not fit beside chunks, even of one plane, by a byte.
template <class Real>
std::uint64_t spilling_budget(const gas::Team& team, Options options, Fields fields) {
  options.planes_per_message = 1;
  return taken_bytes<Real>(team, options, fields, 0) - 1;
}

template <class Real>
void check_spilled(const gas::Team& team, const Options& options, Fields fields) {
  check<Real>(team, options, fields, spilling_budget<Real>(team, options, fields));
}

class SpilledOnDevices : public OnDevices {};

TEST_F(SpilledOnDevices, AllTypesAndPrecisionsAreTransformed) {
  on_worlds({1, 2, 3, 4}, [](gas::Team& team) {
    for (const Type type : {Type::c2c, Type::r2c}) {
      Options options = estimated({12, 20, 18});
      options.type = type;
      check_spilled<double>(team, options, Fields::on_host);
      check_spilled<float>(team, options, Fields::on_host_in_place);
      check_spilled<double>(team, options, type == Type::c2c ? Fields::on_device : Fields::on_device_in_place);
    }
  });
}

TEST_F(SpilledOnDevices, SequencesDirectionsBatchesAndGridsAreTheUsers) {
  on_worlds({1, 3, 4}, [](gas::Team& team) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Draws draws(seed);
      Options options = estimated({draws.number(8, 24), draws.number(8, 24), draws.number(8, 24)});
      options.type = draws.coin() ? Type::c2c : Type::r2c;
      options.output = draws.coin() ? Output::transposed : Output::as_input;
      options.batch = static_cast<int>(draws.number(1, 2));
      draws.shuffle(options.sequence);
      if (draws.coin()) {
        options.along = {true, true, true};
        options.along[static_cast<std::size_t>(draws.number(0, 2))] = false;
      }
      if (draws.coin()) {
        options.planes_per_message = draws.number(0, 3);
      }
      options.grid = draws.coin() ? shape::Grid{} : shape::Grid{team.size(), 1};
      SCOPED_TRACE(fmt::format("seed {}", seed));
      check_spilled<double>(team, options, draws.coin() ? Fields::on_host : Fields::on_host_in_place);
    }
  });
}

TEST_F(SpilledOnDevices, PartsAndPaddingAreTheUsers) {
  on_worlds({1, 2, 4}, [](gas::Team& team) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Draws draws(seed);
      Options options = estimated({draws.number(6, 20), draws.number(6, 20), draws.number(6, 20)});
      options.type = draws.coin() ? Type::c2c : Type::r2c;
      options.input_part = draw_part(draws, team, options.size);
      options.output_part = draw_part(draws, team, spectrum_points(options));
      SCOPED_TRACE(fmt::format("seed {}", seed));
      check_spilled<double>(team, options, Fields::on_host);
      check_spilled<double>(team, options, Fields::on_device);
    }
  });
}

TEST_F(SpilledOnDevices, OneRankNeedsTwoPassesOverTheBus) {
  gas::Team team = gas::world_alone();
  Options options = estimated({32, 24, 40});
  options.memory_budget_bytes = spilling_budget<double>(team, options, Fields::on_host);
  const DevicePlan<double> plan(team, device::open(), options, FieldsOn::host);
  const std::uint64_t field_bytes = 32 * 24 * 40 * sizeof(std::complex<double>);
  const std::vector<DeviceStagePlan> forward = plan.forward_stages();
  const std::vector<DeviceStagePlan> backward = plan.backward_stages();
  ASSERT_EQ(forward.size(), 3);
  EXPECT_EQ(std::vector({forward[0].pass, forward[1].pass, forward[2].pass}), std::vector({0, 0, 1}));
  EXPECT_EQ(backward.back().pass, 1);
  EXPECT_EQ(forward[0].sent_bytes, 0);
  EXPECT_EQ(forward[1].sent_bytes, field_bytes);
  EXPECT_EQ(forward[2].received_bytes, field_bytes);
  EXPECT_GT(forward[0].chunk_planes, 1);
  EXPECT_LT(forward[0].chunk_planes, 40);
  EXPECT_EQ(plan.memory().host_bytes, field_bytes);
}

TEST_F(SpilledOnDevices, PlansForOnePlaceOfFieldsTransformThoseOfTheOther) {
  on_worlds({1, 3}, [](gas::Team& team) {
    const Options options = estimated({12, 20, 18});
    const std::shared_ptr<const device::Device> device = device::open();
    for (const Fields fields : {Fields::on_host, Fields::on_device}) {
      Options with_budget = options;
      with_budget.memory_budget_bytes = spilling_budget<double>(team, options, fields);
      DevicePlan<double> plan(team, device, with_budget, place_of(fields));
      const Fields others = fields == Fields::on_host ? Fields::on_device_in_place : Fields::on_host_in_place;
      EXPECT_GT(plan.forward_stages().back().pass, 0);
      EXPECT_LT(device_error(team, *device, options, plan, others), 1e-15);
    }
  });
}

TEST_F(SpilledOnDevices, TooLittleForOnePlaneIsRefusedOnEveryRank) {
  on_worlds({1, 3}, [](gas::Team& team) {
    Options options = estimated({12, 20, 18});
    options.planes_per_message = 1;
    const std::uint64_t enough =
        taken_bytes<double>(team, options, Fields::on_host, spilling_budget<double>(team, options, Fields::on_host));
    EXPECT_EQ(taken_bytes<double>(team, options, Fields::on_host, enough), enough);
    options.memory_budget_bytes = enough - 1;
    EXPECT_TRUE(fails_with({"a plan for 12x20x18 wants", "for chunks of one plane"},
                           [&] { DevicePlan<double>(team, device::open(), options, FieldsOn::host); }));
    options.memory_budget_bytes = team.rank() == 0 ? enough : enough + 1;
    if (team.size() > 1) {
      EXPECT_TRUE(fails_with({"budget"}, [&] { DevicePlan<double>(team, device::open(), options, FieldsOn::host); }));
    }
  });
}

}  // namespace
}  // namespace penstock::fft
