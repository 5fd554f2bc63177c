// What does it cost that a field lies in memory as its user wants it? Plans for padded rows, interleaved batches and
// FFTW's slabs beside plans for the usual layout, in the same run, repetitions interleaved.
//
// usage: field_layouts [SIZE] [REPETITIONS] [THREADS]
// for example: mpirun -n 2 field_layouts 256 15, field_layouts 192 11 2
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"

namespace {

using penstock::fft::Distribution;
using penstock::fft::Options;
using penstock::fft::Output;
using penstock::fft::Type;
using penstock::gas::Team;
using Complex = std::complex<double>;

/// A layout, with the number of the case that it is compared with.
struct Case {
  std::string name;
  Options options;
  std::size_t baseline;
};

/// A plan, its arrays, in place, and its times.
struct Contender {
  penstock::fft::Plan<double> plan;
  penstock::Memory memory;
  std::array<std::vector<double>, 2> times_s;  // forward, backward

  Contender(const Team& team, const Options& options)
      : plan(team, options), memory(plan.memory().field_bytes * static_cast<std::size_t>(options.batch)) {
    std::ranges::fill(std::span(reinterpret_cast<double*>(memory.data()), memory.size() / sizeof(double)), 1e-9);
  }

  void run(Type type, bool is_forward) {
    const std::span complex(reinterpret_cast<Complex*>(memory.data()), memory.size() / sizeof(Complex));
    const std::span real(reinterpret_cast<double*>(memory.data()), memory.size() / sizeof(double));
    const std::span<const Complex> complex_in = complex;
    const std::span<const double> real_in = real;
    using enum penstock::fft::Scaling;
    if (type == Type::c2c) {
      is_forward ? plan.forward(complex_in, complex, symmetric) : plan.backward(complex_in, complex, symmetric);
    } else if (is_forward) {
      plan.forward(real_in, complex, symmetric);
    } else {
      plan.backward(complex_in, real, symmetric);
    }
  }
};

std::vector<Case> cases_of(const Team& team, std::int64_t n, int threads) {
  std::vector<Case> cases;
  for (const Type type : {Type::c2c, Type::r2c}) {
    const std::string name = type == Type::c2c ? "c2c" : "r2c";
    Options plain{.size = {n, n, n}, .type = type, .threads = threads};
    const penstock::fft::Plan<double> plan(team, plain);
    const Distribution part = plan.input();
    const std::size_t first = cases.size();
    cases.push_back({name, plain, first});

    Options padded = plain;
    padded.input_part = part;
    padded.input_part->row_pitch = type == Type::c2c ? n + 4 : 2 * (n / 2 + 1);
    cases.push_back({name + ", padded rows", padded, first});
    padded.input_part->plane_pitch = (n + 1) * padded.input_part->row_pitch;
    cases.push_back({name + ", padded rows and planes", padded, first});

    Options slabs = plain;
    const std::int64_t block = penstock::divide_up<std::int64_t>(n, team.size());
    const std::int64_t lower = std::min(n, block * team.rank());
    const std::int64_t extent = std::min(n, lower + block) - lower;
    slabs.input_part = Distribution{.box = {{0, 0, lower}, {n, n, extent}}};
    slabs.output_part =
        Distribution{.box = {{0, lower, 0}, {spectrum_points(plain)[0], extent, n}}, .order = {1, 2, 0}};
    cases.push_back({name + ", FFTW's slabs", slabs, first});

    Options moved = plain;
    if (type == Type::c2c) {
      moved.along = {false, false, false};
      moved.output_part = plan.output();
      cases.push_back({name + ", from x to z pencils alone", moved, first});
    }

    Options batch = plain;
    batch.batch = 3;
    cases.push_back({name + ", three fields", batch, cases.size()});
    batch.is_interleaved = true;
    cases.push_back({name + ", three interleaved fields", batch, cases.size() - 1});
  }
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  int status = 0;
  try {
    const Team team = penstock::gas::world_of(MPI_COMM_WORLD);
    const std::int64_t n = number(1, 256);
    const int repetitions = std::max(number(2, 11), 1);
    const int threads = number(3, 1);
    std::vector<Case> cases = cases_of(team, n, threads);
    std::vector<Contender> contenders;
    for (const Case& one : cases) {
      contenders.emplace_back(team, one.options);
    }
    for (int i = -1; i < repetitions; ++i) {  // the first round warms up
      for (std::size_t c = 0; c < cases.size(); ++c) {
        for (const std::size_t way : {0U, 1U}) {
          const double time_s =
              penstock::gas::time_together(team, [&] { contenders[c].run(cases[c].options.type, way == 0); });
          if (i >= 0) {
            contenders[c].times_s[way].push_back(time_s);
          }
        }
      }
    }
    if (team.rank() == 0) {
      fmt::print("{}^3 double, {} ranks x {} threads, in place, {} interleaved repetitions\n", n, team.size(), threads,
                 repetitions);
      for (std::size_t c = 0; c < cases.size(); ++c) {
        fmt::print("  {:<30}", cases[c].name);
        for (const std::size_t way : {0U, 1U}) {
          auto& times_s = contenders[c].times_s[way];
          std::ranges::sort(times_s);
          const double min_s = times_s.front();
          const double baseline_s = std::ranges::min(contenders[cases[c].baseline].times_s[way]);
          fmt::print("  {} min {:7.2f} ms, median {:7.2f}, {:.2f} times", way == 0 ? "forward" : "backward",
                     1e3 * min_s, 1e3 * times_s[times_s.size() / 2], min_s / baseline_s);
        }
        fmt::print("\n");
      }
    }
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
