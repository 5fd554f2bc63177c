// Checks of plans on devices, against the definition and beside plans on the processor.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fft/reference.hpp"

namespace penstock::fft {

class OnDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (device::list().empty()) {
      GTEST_SKIP() << "this system has no device";
    }
  }
};

/// Where a run has its fields.
enum class Fields { on_device, on_device_in_place, on_host, on_host_in_place };

inline FieldsOn place_of(Fields fields) {
  return fields == Fields::on_host || fields == Fields::on_host_in_place ? FieldsOn::host : FieldsOn::device;
}

/// The ranks that share this rank's device: those of its node.
inline std::uint64_t sharers(const gas::Team& team) {
  return static_cast<std::uint64_t>(gas::Placement::sharers(team.placement().nodes, team.rank()));
}

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
double device_error(const gas::Team& team, const device::Device& device, const Options& options, DevicePlan<Real>& plan,
                    Fields fields) {
  using Complex = std::complex<Real>;
  const bool is_on_host = place_of(fields) == FieldsOn::host;
  const bool is_in_place = fields == Fields::on_device_in_place || fields == Fields::on_host_in_place;
  const bool is_c2c = options.type == Type::c2c;
  const std::size_t space_numbers = is_c2c ? 2 : 1;
  const Array<Real> space(options, plan.input(), plan.input_stride(), space_numbers);
  const Array<Real> spectrum(options, plan.output(), plan.output_stride(), 2);
  const std::size_t numbers = std::max(space.size(), spectrum.size()) + 2;
  Mirror<Real> a(device, numbers);
  Mirror<Real> b(device, numbers);
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
  Mirror<Real>& result = is_in_place ? a : b;
  const auto complex = [](auto& numbers_of) {
    return std::span<Complex>(reinterpret_cast<Complex*>(numbers_of.data()), numbers_of.size() / 2);
  };
  if (is_on_host && is_c2c) {
    plan.forward(std::span<const Complex>(complex(a.host)), complex(result.host));
  } else if (is_on_host) {
    plan.forward(std::span<const Real>(a.host), complex(result.host));
  } else {
    a.upload();
    result.upload();
    plan.forward(a.location(), result.location());
    a.download();
    result.download();
  }
  if (!is_in_place) {
    EXPECT_EQ(a.host, original) << "the input has changed";
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
  if (!is_in_place) {
    for (std::size_t i = 0; i < spectrum.size(); ++i) {
      EXPECT_TRUE(!spectrum.is_padding[i] || result.host[i] == Real{7}) << "padding was written";
    }
  }
  if (is_on_host && is_c2c) {
    plan.backward(std::span<const Complex>(complex(result.host)), complex(a.host), Scaling::full);
  } else if (is_on_host) {
    plan.backward(std::span<const Complex>(complex(result.host)), std::span<Real>(a.host), Scaling::full);
  } else {
    plan.backward(result.location(), a.location(), Scaling::full);
    a.download();
  }
  ErrorSums round_trip;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (!space.is_padding[i]) {
      round_trip.difference += std::norm(a.host[i] - original[i]);
      round_trip.reference += std::norm(original[i]);
    }
  }
  return std::max(relative_error(team, forward), relative_error(team, round_trip));
}

/// The error of a plan on devices is at most four times that of the processor's, or a rounding. Collective.
template <class Real>
void check_error(const gas::Team& team, const device::Device& device, const Options& options, DevicePlan<Real>& plan,
                 Fields fields) {
  const double error = device_error<Real>(team, device, options, plan, fields);
  const double processor = worst_error<Real>(team, options);
  const double rounding = sizeof(Real) == 8 ? 2e-16 : 1e-7;
  EXPECT_LE(error, 4 * std::max(processor, rounding)) << fmt::format(
      "{}x{}x{}, type {}, fields {}, {} ranks, rank {}", options.size[0], options.size[1], options.size[2],
      static_cast<int>(options.type), static_cast<int>(fields), team.size(), team.rank());
}

/// Checks a plan on devices, whose options are those given but for its budget, in which not all of it has room.
template <class Real>
void check(const gas::Team& team, const Options& options, Fields fields, std::uint64_t budget_bytes = 0) {
  const std::shared_ptr<const device::Device> device = device::open();
  Options with_budget = options;
  with_budget.memory_budget_bytes = budget_bytes;
  DevicePlan<Real> plan(team, device, with_budget, place_of(fields));
  if (budget_bytes > 0) {
    EXPECT_LE(plan.memory().device_bytes, budget_bytes / sharers(team));
    EXPECT_GT(plan.forward_stages().back().pass, 0);
  }
  SCOPED_TRACE(fmt::format("budget {}", budget_bytes));
  check_error(team, *device, options, plan, fields);
}

}  // namespace penstock::fft
