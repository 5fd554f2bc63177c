// A convolution is forward, the user's function and backward; what is started and waited for later gives the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fails_with.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

using Complex = std::complex<double>;

/// Some function of the wavenumber that no symmetry leaves alone.
Complex multiplier(std::int64_t kx, std::int64_t ky, std::int64_t kz) {
  return {1.0 + static_cast<double>(kx) - 0.5 * static_cast<double>(ky), 0.25 * static_cast<double>(kz)};
}

/// The largest difference between `convolve` and the three steps that it stands for, relative to the largest value.
template <class Element>
double difference(gas::Team& team, Options options) {
  options.type = std::is_same_v<Element, double> ? Type::r2c : Type::c2c;
  options.effort = Effort::estimate;
  options.convolves = true;
  Plan<double> plan(team, options);
  const auto points = static_cast<std::size_t>(plan.input().box.count());
  std::vector<Element> field(points);
  for (std::size_t i = 0; i < points; ++i) {
    field[i] = Element(static_cast<double>((i * 7919 + static_cast<std::size_t>(team.rank()) * 31) % 101) / 101 - 0.5);
  }

  const Distribution& spectrum_of = plan.output();
  std::vector<Complex> spectrum(static_cast<std::size_t>(spectrum_of.box.count()));
  std::vector<Element> expected(points), convolved(points);
  plan.forward(std::span<const Element>(field), std::span(spectrum));
  const auto& [lower, extent] = spectrum_of.box;
  for (std::int64_t kx = lower[0]; kx < lower[0] + extent[0]; ++kx) {
    for (std::int64_t ky = lower[1]; ky < lower[1] + extent[1]; ++ky) {
      for (std::int64_t kz = lower[2]; kz < lower[2] + extent[2]; ++kz) {
        spectrum[static_cast<std::size_t>(spectrum_of.position(kx, ky, kz))] *= multiplier(kx, ky, kz);
      }
    }
  }
  plan.backward(std::span<const Complex>(spectrum), std::span(expected), Scaling::full);

  plan.convolve(std::span<const Element>(field), std::span(convolved),
                [](std::int64_t kx, std::int64_t ky, std::span<Complex> row) {
                  for (std::size_t kz = 0; kz < row.size(); ++kz) {
                    row[kz] *= multiplier(kx, ky, static_cast<std::int64_t>(kz));
                  }
                });
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < points; ++i) {
    worst = std::max(worst, std::abs(convolved[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  const auto all = team.all_gather(std::array{worst, largest});
  for (const auto& [each_worst, each_largest] : all) {
    worst = std::max(worst, each_worst);
    largest = std::max(largest, each_largest);
  }
  return worst / largest;
}

TEST(Convolution, IsForwardTheFunctionAndBackward) {
  gas::on_worlds({1, 2, 3, 4, 7}, [](gas::Team& team) {
    for (const Extents& size : {Extents{24, 25, 18}, Extents{13, 11, 7}, Extents{5, 3, 2}, Extents{40, 9, 12}}) {
      for (int ty = 1; ty <= team.size(); ++ty) {
        if (team.size() % ty == 0) {
          Options options{
              .size = size, .grid = {ty, team.size() / ty}, .planes_per_message = ty % 2, .threads = 1 + ty % 2};
          options.deferred_parts = 3 * ty % 8;
          options.output = ty % 2 == 0 ? Output::transposed : Output::as_input;
          EXPECT_LE(difference<Complex>(team, options), 1e-14) << size[0] << " on " << ty;
          EXPECT_LE(difference<double>(team, options), 1e-14) << size[0] << " on " << ty;
        }
      }
    }
  });
}

TEST(Convolution, SavesAPassOverMemory) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    const Plan<double> plan(team, {.size = {32, 32, 32}, .effort = Effort::estimate, .convolves = true});
    std::uint64_t bytes = 0, apart = 0;
    for (const StagePlan& stage : plan.decision().convolution_stages) {
      bytes += stage.bytes_read + stage.bytes_written;
    }
    for (const auto& stages : {plan.decision().forward_stages, plan.decision().backward_stages}) {
      for (const StagePlan& stage : stages) {
        apart += stage.bytes_read + stage.bytes_written;
      }
    }
    EXPECT_EQ(bytes * 4, apart * 3);
  });
}

TEST(Convolution, IsRefusedByAPlanThatWasNotMadeForIt) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    Plan<double> plan(team, {.size = {8, 8, 8}, .effort = Effort::estimate});
    std::vector<Complex> field(static_cast<std::size_t>(plan.input_stride()));
    EXPECT_THROW(plan.convolve(std::span<const Complex>(field), std::span(field), [](auto, auto, auto) {}), Error);
  });
}

TEST(Execution, OfTwoPlansAtATimeGivesWhatOneAfterTheOtherGives) {
  gas::on_worlds({1, 2, 3, 4}, [](gas::Team& team) {
    for (const std::int64_t planes : {0, 1}) {
      Options options{
          .size = {24, 25, 18}, .planes_per_message = planes, .threads = 2, .batch = 2, .effort = Effort::estimate};
      options.deferred_parts = 4 * planes;
      Plan<double> first(team, options), second(team, options);
      const auto count = static_cast<std::size_t>(first.output_stride() * 2);
      std::vector<Complex> a(count), b(count);
      for (std::size_t i = 0; i < count; ++i) {
        a[i] = {static_cast<double>(i % 17), static_cast<double>(team.rank())};
        b[i] = {static_cast<double>(i % 13), 1};
      }
      std::vector<Complex> expected_a(count), expected_b(count), got_a(count), got_b(count);
      first.forward(std::span<const Complex>(a), std::span(expected_a));
      second.backward(std::span<const Complex>(b), std::span(expected_b));

      std::vector<Execution> executions;
      executions.push_back(first.start_forward(std::span<const Complex>(a), std::span(got_a)));
      executions.push_back(second.start_backward(std::span<const Complex>(b), std::span(got_b)));
      wait_all(executions);
      EXPECT_EQ(got_a, expected_a);
      EXPECT_EQ(got_b, expected_b);

      std::fill(got_a.begin(), got_a.end(), Complex());
      Execution alone = first.start_forward(std::span<const Complex>(a), std::span(got_a));
      while (!alone.progress()) {
      }
      EXPECT_EQ(got_a, expected_a);
      std::fill(got_a.begin(), got_a.end(), Complex());
      static_cast<void>(first.start_forward(std::span<const Complex>(a), std::span(got_a)));  // ends as it is destroyed
      EXPECT_EQ(got_a, expected_a);
    }
  });
}

TEST(Execution, IsTheOnlyOneOfItsPlan) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    Plan<double> plan(team, {.size = {8, 8, 8}, .effort = Effort::estimate});
    std::vector<Complex> field(static_cast<std::size_t>(plan.input_stride()));
    const Execution one = plan.start_forward(std::span<const Complex>(field), std::span(field));
    team.barrier();  // the refused call of one rank fails those of all
    EXPECT_TRUE(fails_with({"under way"}, [&] {
      static_cast<void>(plan.start_forward(std::span<const Complex>(field), std::span(field)));
    }));
  });
}

}  // namespace
}  // namespace penstock::fft
