// Plans on devices beside plans on the processor: both against the definition. On systems without a device nothing
// runs, and the tests say so.
#include <gtest/gtest.h>

#include "penstock/device/device.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fails_with.hpp"
#include "tests/fft/device_checks.hpp"
#include "tests/fft/draws.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

using gas::on_worlds;

TEST_F(OnDevices, AllTypesAndPrecisionsAreTransformed) {
  on_worlds({1, 2, 3, 4}, [](gas::Team& team) {
    for (const Type type : {Type::c2c, Type::r2c}) {
      for (const Fields fields :
           {Fields::on_device, Fields::on_device_in_place, Fields::on_host, Fields::on_host_in_place}) {
        Options options = estimated({12, 10, 9});
        options.type = type;
        check<double>(team, options, fields);
        if (fields == Fields::on_device) {
          check<float>(team, options, fields);
        }
      }
    }
  });
}

TEST_F(OnDevices, BatchesGridsOutputsAndMessagesAreTheUsers) {
  on_worlds({1, 2, 4}, [](gas::Team& team) {
    Options options = estimated({8, 12, 10});
    options.batch = 3;
    check<double>(team, options, Fields::on_device);
    check<double>(team, options, Fields::on_host);
    options.output = Output::as_input;
    check<double>(team, options, Fields::on_device_in_place);
    options.batch = 1;
    options.type = Type::r2c;
    check<double>(team, options, Fields::on_host);
    options.output = Output::transposed;
    options.grid = {team.size(), 1};
    options.planes_per_message = 1;
    check<double>(team, options, Fields::on_device);
    options.grid = {team.size() == 4 ? 2 : 1, team.size() == 4 ? 2 : team.size()};
    options.planes_per_message = 0;
    check<double>(team, options, Fields::on_device);
  });
}

TEST_F(OnDevices, AnyDirectionsInAnySequenceAreTransformed) {
  on_worlds({1, 3}, [](gas::Team& team) {
    for (const std::array<bool, 3>& along :
         {std::array{true, false, false}, std::array{false, true, false}, std::array{true, false, true}}) {
      Options options = estimated({6, 8, 5});
      options.along = along;
      check<double>(team, options, Fields::on_device);
      check<double>(team, options, Fields::on_device_in_place);
    }
    Options options = estimated({6, 8, 5});
    options.sequence = {2, 0, 1};
    options.type = Type::r2c;
    check<double>(team, options, Fields::on_device);
  });
}

TEST_F(OnDevices, PartsAndPaddingAreTheUsers) {
  on_worlds({1, 4}, [](gas::Team& team) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Draws draws(seed);
      Options options = estimated({draws.number(1, 12), draws.number(1, 12), draws.number(1, 12)});
      options.type = draws.coin() ? Type::c2c : Type::r2c;
      options.input_part = draw_part(draws, team, options.size);
      options.output_part = draw_part(draws, team, spectrum_points(options));
      check<double>(team, options, Fields::on_device);
      check<double>(team, options, Fields::on_host);
    }
  });
}

TEST_F(OnDevices, PlansForOnePlaceOfFieldsTransformThoseOfTheOther) {
  on_worlds({1, 3}, [](gas::Team& team) {
    const Options options = estimated({12, 10, 9});
    const std::shared_ptr<const device::Device> device = device::open();
    DevicePlan<double> of_device(team, device, options);
    EXPECT_LT(device_error(team, *device, options, of_device, Fields::on_host), 1e-15);
    EXPECT_LT(device_error(team, *device, options, of_device, Fields::on_device), 1e-15);
    DevicePlan<double> of_host(team, device, options, FieldsOn::host);
    EXPECT_LT(device_error(team, *device, options, of_host, Fields::on_device_in_place), 1e-15);
    EXPECT_LT(device_error(team, *device, options, of_host, Fields::on_host_in_place), 1e-15);
  });
}

TEST_F(OnDevices, WhatOnlyProcessorsDoIsRefusedOnEveryRank) {
  on_worlds({1, 2}, [](gas::Team& team) {
    const std::shared_ptr<const device::Device> device = device::open();
    const auto refuses = [&](const Options& options, std::string_view why) {
      return fails_with({why}, [&] { DevicePlan<double>(team, device, options); });
    };
    Options options = estimated({8, 8, 8});
    options.type = Type::r2r;
    EXPECT_TRUE(refuses(options, "plans on devices have no sine"));
    options = estimated({8, 8, 8});
    options.convolves = true;
    EXPECT_TRUE(refuses(options, "convolutions"));
    options = estimated({1 << 22, 1, 1});
    EXPECT_TRUE(refuses(options, "local memory"));
    EXPECT_TRUE(fails_with({"needs a device"}, [&] { DevicePlan<double>(team, nullptr, estimated({8, 8, 8})); }));
    DevicePlan<double> plan(team, device, estimated({8, 8, 8}));
    std::vector<std::complex<double>> none;
    EXPECT_TRUE(fails_with({"too short"}, [&] { plan.forward(std::span<const std::complex<double>>(none), none); }));
  });
}

}  // namespace
}  // namespace penstock::fft
