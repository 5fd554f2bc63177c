// What does a product of two real fields cost without aliases? Their modes are taken to a grid of more points, where
// they are multiplied, and back: by plans that keep the modes alone, by a collocation, and by padding with zeros by
// hand.
//
// usage, on one rank or two: dealiased_product [MODES] [POINTS] [REPETITIONS]
// for example: mpirun -n 2 dealiased_product 256 384 7
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"

namespace {

using penstock::Memory;
using penstock::fft::Box;
using penstock::fft::Distribution;
using penstock::fft::Options;
using penstock::fft::Plan;
using penstock::fft::Scaling;
using penstock::gas::Team;
using Complex = std::complex<double>;

/// Memory of some numbers.
template <class Number>
struct Numbers {
  explicit Numbers(std::int64_t count)
      : memory(static_cast<std::size_t>(count) * sizeof(Number)),
        all(reinterpret_cast<Number*>(memory.data()), static_cast<std::size_t>(count)) {
    std::ranges::fill(all, Number(1e-3));
  }
  Memory memory;
  std::span<Number> all;
};

void multiply(std::span<double> a, std::span<const double> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] *= b[i];
  }
}

/// Copies the modes between a spectrum of `modes` and one of `points`, [x][y][z] both: rows along z in two halves.
class Padding {
 public:
  Padding(const Distribution& few, std::int64_t modes, const Distribution& many, std::int64_t points)
      : few_(few), many_(many), modes_(modes), points_(points) {}

  void pad(const Complex* few, std::span<Complex> many) const {
    std::memset(static_cast<void*>(many.data()), 0, many.size_bytes());
    for_each_half([&](std::int64_t from, std::int64_t to, std::int64_t count) {
      std::copy_n(few + from, count, many.data() + to);
    });
  }
  void truncate(const Complex* many, Complex* few) const {
    for_each_half(
        [&](std::int64_t to, std::int64_t from, std::int64_t count) { std::copy_n(many + from, count, few + to); });
  }

 private:
  template <class Visit>
  void for_each_half(const Visit& visit) const {
    const Box& box = few_.box;
    for (std::int64_t x = box.lower[0]; x < box.lower[0] + box.extent[0]; ++x) {
      for (std::int64_t y = box.lower[1]; y < box.lower[1] + box.extent[1]; ++y) {
        const std::int64_t fine_y = y < modes_ / 2 ? y : y + points_ - modes_;
        visit(few_.position(x, y, 0), many_.position(x, fine_y, 0), modes_ / 2);
        visit(few_.position(x, y, modes_ / 2), many_.position(x, fine_y, points_ - modes_ / 2), modes_ / 2);
      }
    }
  }

  Distribution few_, many_;
  std::int64_t modes_, points_;
};

/// What all ranks write for one another in a forward transform: all but what the last stage writes.
std::uint64_t exchanged_bytes(const Team& team, const Plan<double>& plan) {
  std::uint64_t mine = 0;
  for (const penstock::fft::StagePlan& stage : std::span(plan.decision().forward_stages).first(2)) {
    mine += stage.bytes_written;
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : team.all_gather(mine)) {
    sum += bytes;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  int status = 0;
  try {
    const Team team = penstock::gas::world_of(MPI_COMM_WORLD);
    const std::int64_t m = number(1, 256);
    const std::int64_t n = number(2, 384);
    const int repetitions = std::max(number(3, 7), 1);

    Options pruned_options{.size = {n, n, n}, .modes = {m, m, m}, .type = penstock::fft::Type::r2c};
    Plan<double> pruned(team, pruned_options);
    Options together = pruned_options;
    together.batch = 2;
    together.is_interleaved = true;
    together.collocates = true;
    Plan<double> collocating(team, together);
    Plan<double> by_hand(team, {.size = {n, n, n}, .type = penstock::fft::Type::r2c});
    team.agree(team.size() > 2 ? "one rank or two: of more each would have modes that another one pads" : "");
    const Padding padding(pruned.output(), m, by_hand.output(), n);

    const std::int64_t spectrum_count = pruned.output().elements();
    Numbers<Complex> u(spectrum_count), v(spectrum_count), product(spectrum_count);
    Numbers<Complex> uv(2 * spectrum_count), products(2 * spectrum_count);
    Numbers<Complex> padded(by_hand.output().elements());
    Numbers<double> u_points(pruned.input().elements()), v_points(pruned.input().elements());
    const auto by_plan = [&] {
      pruned.backward(std::span<const Complex>(u.all), u_points.all);
      pruned.backward(std::span<const Complex>(v.all), v_points.all);
      multiply(u_points.all, v_points.all);
      pruned.forward(std::span<const double>(u_points.all), product.all, Scaling::full);
    };
    const auto by_collocation = [&] {
      collocating.collocate(std::span<const Complex>(uv.all), products.all,
                            [](std::int64_t, std::int64_t, std::span<double> row) {
                              for (std::size_t i = 0; i < row.size(); i += 2) {
                                row[i] *= row[i + 1];
                              }
                            });
    };
    const auto with_padding = [&] {
      padding.pad(u.all.data(), padded.all);
      by_hand.backward(std::span<const Complex>(padded.all), u_points.all);
      padding.pad(v.all.data(), padded.all);
      by_hand.backward(std::span<const Complex>(padded.all), v_points.all);
      multiply(u_points.all, v_points.all);
      by_hand.forward(std::span<const double>(u_points.all), padded.all, Scaling::full);
      padding.truncate(padded.all.data(), product.all.data());
    };
    std::vector<double> times_s[3];
    for (int i = -1; i < repetitions; ++i) {  // the first round warms up
      const double round_s[]{penstock::gas::time_together(team, by_plan),
                             penstock::gas::time_together(team, by_collocation),
                             penstock::gas::time_together(team, with_padding)};
      for (std::size_t c = 0; i >= 0 && c < 3; ++c) {
        times_s[c].push_back(round_s[c]);
      }
    }
    const double by_plan_bytes = static_cast<double>(exchanged_bytes(team, pruned));
    const double by_hand_bytes = static_cast<double>(exchanged_bytes(team, by_hand));
    if (team.rank() == 0) {
      fmt::print("{}^3 modes, {}^3 points, real, double, {} ranks, {} interleaved repetitions\n", m, n, team.size(),
                 repetitions);
      const char* const names[]{"plans that keep the modes", "collocation, both fields there and back",
                                "padding by hand"};
      for (std::size_t c = 0; c < 3; ++c) {
        std::ranges::sort(times_s[c]);
        fmt::print("  {:<40} min {:7.1f} ms  median {:7.1f} ms\n", names[c], 1e3 * times_s[c].front(),
                   1e3 * times_s[c][times_s[c].size() / 2]);
      }
      fmt::print("  padding takes {:.2f} times as long, and exchanges {:.2f} times the bytes\n",
                 times_s[2].front() / times_s[0].front(), by_hand_bytes / by_plan_bytes);
    }
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
