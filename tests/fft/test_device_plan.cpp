// Plans on devices beside plans on the processor: both against the definition. On systems without a device nothing
// runs, and the tests say so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "penstock/device/device.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fails_with.hpp"
#include "tests/fft/draws.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

using gas::on_worlds;

class OnDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (device::list().empty()) {
      GTEST_SKIP() << "this system has no device";
    }
  }
};

/// Where a run has its fields.
enum class Fields { on_device, on_device_in_place, on_host };

/// An array on the device and its copy on the host.
template <class Real>
class Mirror {
 public:
  Mirror(const device::Device& device, std::size_t numbers)
      : host(numbers, Real{7}), stream_(device.make_stream()), memory_(device.allocate(numbers * sizeof(Real))) {}

  std::vector<Real> host;
  device::Location location() const { return memory_->location(); }
  void upload() {
    stream_->copy_to_device(location(), reinterpret_cast<const std::byte*>(host.data()), rows());
    stream_->finish();
  }
  void download() {
    stream_->copy_to_host(reinterpret_cast<std::byte*>(host.data()), location(), rows());
    stream_->finish();
  }

 private:
  device::Rows rows() const { return {.row_bytes = host.size() * sizeof(Real)}; }

  std::unique_ptr<device::Stream> stream_;
  std::unique_ptr<device::Memory> memory_;
};

/// Transforms fields of noise forward and back; collective. The larger of the error of the spectrum, against the
/// definition, and of what comes back.
template <class Real>
double device_error(const gas::Team& team, const Options& options, Fields fields) {
  using Complex = std::complex<Real>;
  const std::shared_ptr<const device::Device> device = device::open();
  DevicePlan<Real> plan(team, device, options);
  const bool is_c2c = options.type == Type::c2c;
  const std::size_t space_numbers = is_c2c ? 2 : 1;
  const Array<Real> space(options, plan.input(), plan.input_stride(), space_numbers);
  const Array<Real> spectrum(options, plan.output(), plan.output_stride(), 2);
  const std::size_t numbers = std::max(space.size(), spectrum.size()) + 2;
  Mirror<Real> a(*device, numbers);
  Mirror<Real> b(*device, numbers);
  for (int i = 0; i < options.batch; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const std::vector<Complex> field = make_field<Real>(options.size, plan.input(), options.type, seed);
    for_each_point(options.size, plan.input(), [&](std::size_t position, std::size_t) {
      Real* const to = a.host.data() + space.at(static_cast<std::size_t>(i), position);
      to[0] = field[position].real();
      if (is_c2c) {
        to[1] = field[position].imag();
      }
    });
  }
  const std::vector<Real> original = a.host;
  Mirror<Real>& result = fields == Fields::on_device_in_place ? a : b;
  const auto complex = [](auto& numbers_of) {
    return std::span<Complex>(reinterpret_cast<Complex*>(numbers_of.data()), numbers_of.size() / 2);
  };
  if (fields == Fields::on_host) {
    if (is_c2c) {
      plan.forward(std::span<const Complex>(complex(a.host)), complex(b.host));
    } else {
      plan.forward(std::span<const Real>(a.host), complex(b.host));
    }
    EXPECT_EQ(a.host, original) << "the input has changed";
  } else {
    a.upload();
    result.upload();
    plan.forward(a.location(), result.location());
    a.download();
    result.download();
    if (fields == Fields::on_device) {
      EXPECT_EQ(a.host, original) << "the input has changed";
    }
  }
  ErrorSums forward;
  for (int i = 0; i < options.batch; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const ErrorSums sums =
        compare(options.size, plan.output(), result.host.data() + spectrum.at(static_cast<std::size_t>(i), 0), 2,
                *transform_by_definition<Real>(options, seed), 1);
    forward.difference += sums.difference;
    forward.reference += sums.reference;
  }
  if (fields == Fields::on_device) {
    for (std::size_t i = 0; i < spectrum.size(); ++i) {
      EXPECT_TRUE(!spectrum.is_padding[i] || result.host[i] == Real{7}) << "padding was written";
    }
  }
  Mirror<Real>& back = fields == Fields::on_device_in_place ? result : a;
  if (fields == Fields::on_host) {
    if (is_c2c) {
      plan.backward(std::span<const Complex>(complex(b.host)), complex(a.host), Scaling::full);
    } else {
      plan.backward(std::span<const Complex>(complex(b.host)), std::span<Real>(a.host), Scaling::full);
    }
  } else {
    plan.backward(result.location(), back.location(), Scaling::full);
    back.download();
  }
  ErrorSums round_trip;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (!space.is_padding[i]) {
      round_trip.difference += std::norm(back.host[i] - original[i]);
      round_trip.reference += std::norm(original[i]);
    }
  }
  return std::max(relative_error(team, forward), relative_error(team, round_trip));
}

/// Checks a plan on devices: its error is at most four times that of the processor's, or a rounding.
template <class Real>
void check(const gas::Team& team, const Options& options, Fields fields) {
  const double error = device_error<Real>(team, options, fields);
  const double processor = worst_error<Real>(team, options);
  const double rounding = sizeof(Real) == 8 ? 2e-16 : 1e-7;
  EXPECT_LE(error, 4 * std::max(processor, rounding))
      << fmt::format("{}x{}x{}, type {}, {} ranks, rank {}", options.size[0], options.size[1], options.size[2],
                     static_cast<int>(options.type), team.size(), team.rank());
}

TEST_F(OnDevices, AllTypesAndPrecisionsAreTransformed) {
  on_worlds({1, 2, 3, 4}, [](gas::Team& team) {
    for (const Type type : {Type::c2c, Type::r2c}) {
      for (const Fields fields : {Fields::on_device, Fields::on_device_in_place, Fields::on_host}) {
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
      const auto draw_part = [&](const Extents& points) {
        std::vector<Box> boxes;
        cut(draws, {{}, points}, team.size(), {0, 1, 2}, boxes);
        Distribution part{.box = boxes[static_cast<std::size_t>(team.rank())]};
        draws.shuffle(part.order);
        part.row_pitch = part.box.extent[static_cast<std::size_t>(part.order[2])] + draws.number(1, 3);
        return part;
      };
      options.input_part = draw_part(options.size);
      options.output_part = draw_part(spectrum_points(options));
      check<double>(team, options, Fields::on_device);
      check<double>(team, options, Fields::on_host);
    }
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
