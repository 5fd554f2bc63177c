// Transforms with one bad rank: every rank throws, and the plan is of no more use.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <span>
#include <string>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/collective/one_bad_rank.hpp"
#include "tests/fails_with.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

using Complex = std::complex<double>;
using gas::Team;

Options options_of(Type type = Type::c2c) {
  Options options;
  options.size = {12, 10, 9};
  options.type = type;
  options.effort = Effort::estimate;
  return options;
}

/// A plan and a rank's arrays for it, of which the bad rank's input is an element too short.
struct Call {
  Plan<double> plan;
  std::vector<Complex> complex_in, complex_out;
  std::vector<double> real_in, real_out;
  std::size_t in;
  std::size_t out;

  Call(const Team& team, bool is_bad, const Options& options, bool is_backward = false) : plan(team, options) {
    const auto batch = static_cast<std::size_t>(options.batch);
    const auto spaces = static_cast<std::size_t>(plan.input_stride()) * batch;
    const auto modes = static_cast<std::size_t>(plan.output_stride()) * batch;
    complex_in.resize(std::max(spaces, modes));
    complex_out.resize(std::max(spaces, modes));
    real_in.resize(2 * complex_in.size());
    real_out.resize(2 * complex_in.size());
    const auto box = (is_backward ? plan.output() : plan.input()).box;
    in = is_bad ? static_cast<std::size_t>(box.count()) - 1 : complex_in.size();
    out = complex_out.size();
  }
  std::span<const Complex> from() const { return std::span(complex_in).first(in); }
  std::span<Complex> to() { return std::span(complex_out).first(out); }
  std::span<const double> from_real() const { return std::span(real_in).first(in); }
  std::span<double> to_real() { return real_out; }
};

Options convolving(int threads = 1) {
  Options options = options_of();
  options.convolves = true;
  options.threads = threads;
  return options;
}

Options collocating() {
  Options options = options_of();
  options.collocates = true;
  return options;
}

void leave_alone(std::int64_t, std::int64_t, std::span<Complex>) {}

TEST(OneBadRank, FailsPlanningOnEveryRank) {
  const Case cases[] = {
      {"fft::memory_need",
       [](const Team& team, bool is_bad) {
         Options options = options_of();
         options.batch = is_bad ? 0 : 1;
         memory_need<double>(team, options);
       }},
      {"fft::Plan::Plan, another size",
       [](const Team& team, bool is_bad) {
         Options options = options_of();
         options.size[1] += is_bad ? 1 : 0;
         Plan<double>(team, options);
       }},
      {"fft::Plan::Plan, it alone measures",
       [](const Team& team, bool is_bad) {
         Options options = options_of();
         options.planning = is_bad ? Planning::measure : Planning::model;
         Plan<double>(team, options);
       }},
      {"fft::Plan::Plan, it alone convolves",
       [](const Team& team, bool is_bad) { Plan<double>(team, is_bad ? convolving() : options_of()); }},
      {"fft::Plan::Plan, it alone collocates",
       [](const Team& team, bool is_bad) { Plan<double>(team, is_bad ? collocating() : options_of()); }},
      {"fft::Plan::Plan, it alone has arrays",
       [](const Team& team, bool is_bad) {
         Options options = options_of();
         options.has_arrays = is_bad;
         Plan<double>(team, options);
       }},
      {"fft::Plan::Plan, another sequence",
       [](const Team& team, bool is_bad) {
         Options options = options_of();
         options.sequence = is_bad ? std::array{1, 0, 2} : std::array{0, 1, 2};
         Plan<double>(team, options);
       }},
      {"fft::Plan::Plan, fewer modes",
       [](const Team& team, bool is_bad) {
         Options options = options_of();
         options.modes[2] = is_bad ? 1 : 0;
         Plan<double>(team, options);
       }},
      {"fft::Plan::Plan, it alone has parts",
       [](const Team& team, bool is_bad) {
         Options options = options_of();
         if (is_bad) {
           options.input_part = Distribution{.box = {{}, options.size}};
         }
         Plan<double>(team, options);
       }},
      {"fft::open_device, it alone names one that there is not",
       [](const Team& team, bool is_bad) { open_device(team, is_bad || device::list().empty() ? "none" : "any"); }},
      {"fft::DevicePlan::DevicePlan, it alone has no device",
       [](const Team& team, bool is_bad) {
         const bool has_device = !is_bad && !device::list().empty();
         DevicePlan<double>(team, has_device ? device::open() : nullptr, options_of());
       }},
  };
  expect_all_ranks_throw(cases);
}

HaloOptions halo_of(const Team& team) {
  const Range z = shape::part_of(9, team.size(), team.rank());
  return {.size = {12, 10, 9}, .box = {{0, 0, z.lower}, {12, 10, z.extent}}};
}

TEST(OneBadRank, FailsHalosOnEveryRank) {
  const Case cases[] = {
      {"fft::Halo::Halo, another width",
       [](const Team& team, bool is_bad) {
         HaloOptions options = halo_of(team);
         options.above[1] = is_bad ? 2 : 1;
         const Halo halo(team, options);
       }},
      {"fft::Halo::Halo, a point that no rank has",
       [](const Team& team, bool is_bad) {
         HaloOptions options = halo_of(team);
         options.box.extent[0] -= is_bad ? 1 : 0;
         const Halo halo(team, options);
       }},
      {"fft::Halo::exchange, a short array",
       [](const Team& team, bool is_bad) {
         Halo halo(team, halo_of(team));
         std::vector<double> cells(static_cast<std::size_t>(halo.array().elements()) - (is_bad ? 1 : 0));
         halo.exchange(std::span(cells));
       }},
      {"fft::Halo::start, a second time",
       [](const Team& team, bool is_bad) {
         Halo halo(team, halo_of(team));
         std::vector<double> cells(static_cast<std::size_t>(halo.array().elements()));
         const auto bytes = std::as_writable_bytes(std::span(cells));
         halo.start(bytes);
         if (is_bad) {
           halo.start(bytes);
         }
         halo.finish();
         halo.exchange(bytes);
         halo.exchange(bytes);
       }},
      {"fft::Halo::finish, nothing was started",
       [](const Team& team, bool is_bad) {
         Halo halo(team, halo_of(team));
         std::vector<double> cells(static_cast<std::size_t>(halo.array().elements()));
         if (!is_bad) {
           halo.start(std::as_writable_bytes(std::span(cells)));
         }
         halo.finish();
       }},
  };
  expect_all_ranks_throw(cases);
}

TEST(OneBadRank, FailsTransformsOnEveryRank) {
  const Case cases[] = {
      {"fft::Plan::forward, a short input",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, options_of());
         call.plan.forward(call.from(), call.to());
       }},
      {"fft::Plan::forward, a short output",
       [](const Team& team, bool is_bad) {
         Call call(team, false, options_of());
         call.plan.forward(call.from(), is_bad ? call.to().first(1) : call.to());
       }},
      {"fft::Plan::forward, real to complex",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, options_of(Type::r2c));
         call.plan.forward(call.from_real(), call.to());
       }},
      {"fft::Plan::forward, real to real",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, options_of(Type::r2r));
         call.plan.forward(call.from_real(), call.to_real());
       }},
      {"fft::Plan::forward, of another type",
       [](const Team& team, bool is_bad) {
         Call call(team, false, options_of());
         is_bad ? call.plan.forward(call.from_real(), call.to()) : call.plan.forward(call.from(), call.to());
       }},
      {"fft::Plan::forward, input and output overlap",
       [](const Team& team, bool is_bad) {
         Call call(team, false, options_of());
         std::vector<Complex> both(call.in + 1);
         call.plan.forward(std::span(both).first(call.in), std::span(both).subspan(is_bad ? 1 : 0, call.in));
       }},
      {"fft::Plan::forward, into arrays of the plan's own",
       [](const Team& team, bool is_bad) {
         Options options = options_of();
         options.has_arrays = true;
         options.output = Output::as_input;
         Call call(team, is_bad, options);
         call.plan.forward(call.from(), call.plan.output_array<Complex>());
       }},
      {"fft::Plan::forward, on four threads",
       [](const Team& team, bool is_bad) {
         Options options = options_of();
         options.threads = 4;
         Call call(team, is_bad, options);
         call.plan.forward(call.from(), call.to());
       }},
      {"fft::Plan::forward, in deferred parts and small messages",
       [](const Team& team, bool is_bad) {
         Options options = options_of();
         options.planes_per_message = 1;
         options.deferred_parts = 3;
         Call call(team, is_bad, options);
         call.plan.forward(call.from(), call.to());
       }},
      {"fft::Plan::forward, a second time",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, options_of());
         EXPECT_THROW(call.plan.forward(call.from(), call.to()), Error);
         call.plan.forward(call.complex_in, call.to());
       }},
      {"fft::Plan::forward, a handler throws midway",
       [](const Team& team, bool) {
         Call call(team, false, options_of());
         Trap trap(team);
         for (int i = 0; i < 1000; ++i) {
           trap.set();
           call.plan.forward(call.from(), call.to());
         }
       }},
      {"fft::Plan::backward, a short input",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, options_of(), true);
         call.plan.backward(call.from(), call.to());
       }},
      {"fft::Plan::backward, complex to real",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, options_of(Type::r2c), true);
         call.plan.backward(call.from(), call.to_real());
       }},
      {"fft::Plan::backward, real to real",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, options_of(Type::r2r), true);
         call.plan.backward(call.from_real(), call.to_real());
       }},
      {"fft::Plan::convolve, a short input",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, convolving());
         call.plan.convolve(call.from(), call.to(), leave_alone);
       }},
      {"fft::Plan::collocate, a short input",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, collocating(), true);
         call.plan.collocate(call.from(), call.to(), PointFunction<Complex>(leave_alone));
       }},
      {"fft::Plan::collocate, the user's function throws",
       [](const Team& team, bool is_bad) {
         Call call(team, false, collocating(), true);
         call.plan.collocate(call.from(), call.to(), PointFunction<Complex>([&](auto...) {
                               if (is_bad) {
                                 throw Error("no such point");
                               }
                             }));
       }},
      {"fft::Plan::start_collocate, of another type",
       [](const Team& team, bool is_bad) {
         Call call(team, false, collocating(), true);
         const auto nothing = [](auto...) {};
         Execution execution = is_bad
                                   ? call.plan.start_collocate(call.from(), call.to(), PointFunction<double>(nothing))
                                   : call.plan.start_collocate(call.from(), call.to(), PointFunction<Complex>(nothing));
         execution.wait();
       }},
      {"fft::Plan::convolve, the user's function throws",
       [](const Team& team, bool is_bad) {
         Call call(team, false, convolving());
         call.plan.convolve(call.from(), call.to(), [&](auto...) {
           if (is_bad) {
             throw Error("no such wavenumber");
           }
         });
       }},
      {"fft::Plan::convolve, the user's function throws on one of three threads",
       [](const Team& team, bool is_bad) {
         Call call(team, false, convolving(3));
         std::atomic<bool> is_due = is_bad;
         call.plan.convolve(call.from(), call.to(), [&](auto...) {
           if (is_due.exchange(false)) {
             throw Error("no such wavenumber");
           }
         });
       }},
      {"fft::Plan::start_forward",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, options_of());
         Execution one = call.plan.start_forward(call.from(), call.to());
         while (!one.progress()) {
         }
       }},
      {"fft::Plan::start_backward",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, options_of(), true);
         std::vector<Execution> both;
         both.push_back(call.plan.start_backward(call.from(), call.to()));
         wait_all(both);
       }},
      {"fft::Plan::start_convolve",
       [](const Team& team, bool is_bad) {
         Call call(team, is_bad, convolving());
         call.plan.start_convolve(call.from(), call.to(), leave_alone).wait();
       }},
  };
  expect_all_ranks_throw(cases);
}

TEST(Plan, RefusesArraysThatOverlapInPart) {
  gas::on_worlds({1, 3}, [](Team& team) {
    for (const int batch : {1, 3}) {
      Options options = options_of();
      options.batch = batch;
      const auto refused = [&](std::ptrdiff_t shift) {
        Plan<double> plan(team, options);
        const std::size_t count = static_cast<std::size_t>(plan.input_stride()) * static_cast<std::size_t>(batch);
        std::vector<Complex> both(3 * count);
        const std::span<Complex> in = std::span(both).subspan(count, count);
        const std::span<Complex> out = std::span(both).subspan(count + static_cast<std::size_t>(shift), count);
        EXPECT_TRUE(fails_with({"overlap"}, [&] { plan.forward(std::span<const Complex>(in), out); })) << shift;
      };
      refused(1);
      refused(-1);
      if (batch > 1) {
        refused(Plan<double>(team, options).input_stride());  // a field of the one is another field of the other
      }
      Plan<double> plan(team, options);
      const std::size_t count = static_cast<std::size_t>(plan.input_stride()) * static_cast<std::size_t>(batch);
      std::vector<Complex> both(2 * count);
      const std::span<Complex> first = std::span(both).first(count);
      const std::span<Complex> second = std::span(both).subspan(count);
      EXPECT_NO_THROW(plan.forward(std::span<const Complex>(first), first));
      EXPECT_NO_THROW(plan.forward(std::span<const Complex>(first), second));
      EXPECT_NO_THROW(plan.forward(std::span<const Complex>(second), first));
    }
  });
}

TEST(Plan, IsMadeAnewOnTheSameTeamAfterACallThatFailed) {
  gas::on_worlds({3}, [](Team& team) {
    for (int round = 0; round < 3; ++round) {
      Call bad(team, team.rank() == round, options_of());
      EXPECT_TRUE(
          fails_with({"rank " + std::to_string(round), "too short"}, [&] { bad.plan.forward(bad.from(), bad.to()); }));
      Call good(team, false, options_of());
      good.complex_in[0] = team.rank() == 0 ? 1 : 0;
      good.plan.forward(good.from(), good.to());
      const auto modes = static_cast<std::size_t>(good.plan.output().box.count());
      for (const Complex& mode : good.to().first(modes)) {
        ASSERT_NEAR(std::abs(mode - 1.0), 0, 1e-12);
      }
    }
  });
}

}  // namespace
}  // namespace penstock::fft
