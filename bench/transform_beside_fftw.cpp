// Is a transform of pencils in cache faster than FFTW's, from the same place to another of the same kind?
//
//     transform_beside_fftw [adjacent|contiguous [double|single [SET [PENCILS [LENGTH ...]]]]]
//
// Adjacent: point k of all pencils is a row; contiguous: the points of a pencil follow one another. SET is portable,
// avx2 or avx512 (the best). Each round runs both once, in turn; the table has minimum and median of the rounds, in
// nanoseconds a pencil, and our time over FFTW's. FFTW plans by FFTW_MEASURE, out of place.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/fftw_names.hpp"
#include "penstock/base/base.hpp"
#include "penstock/transform/transform.hpp"

namespace {

using penstock::InstructionSet;
using penstock::Memory;

// Half a page from where the other arrays begin, modulo a page: loads from one would be taken to depend on stores to
// another.
constexpr std::size_t scratch_gap = 2048;

struct Asked {
  bool is_adjacent = true;
  InstructionSet set = penstock::best_instruction_set();
  int pencils = 16;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <class Real>
void compare(int length, const Asked& asked) {
  using Number = std::complex<Real>;
  using Fftw = penstock::bench::FftwNames<Real>;
  const int pencils = asked.pencils;
  const auto bytes = static_cast<std::size_t>(length) * static_cast<std::size_t>(pencils) * sizeof(Number);
  const Memory source(bytes);
  const Memory ours(bytes);
  const Memory theirs(bytes);
  const int point = asked.is_adjacent ? pencils : 1;
  const int pencil = asked.is_adjacent ? 1 : length;
  const auto as_theirs = [](const Memory& memory) { return reinterpret_cast<typename Fftw::Complex*>(memory.data()); };
  const auto plan = Fftw::plan_many(1, &length, pencils, as_theirs(source), nullptr, point, pencil, as_theirs(theirs),
                                    nullptr, point, pencil, FFTW_FORWARD, FFTW_MEASURE);
  using penstock::transform::Spacing;
  const Spacing spacing = asked.is_adjacent ? Spacing::adjacent : Spacing::contiguous;
  const penstock::transform::Transform<Real> transform(
      {.length = length, .source = spacing, .destination = spacing, .pencils = pencils}, asked.set);
  const Memory scratch(transform.scratch_bytes() + scratch_gap);
  std::vector<std::int64_t> offsets;
  for (std::int64_t k = 0; k < length; ++k) {
    offsets.push_back(k * point * static_cast<std::int64_t>(sizeof(Number)));
  }
  const auto pitch = static_cast<std::int64_t>(static_cast<std::size_t>(pencil) * sizeof(Number));
  auto* const numbers = reinterpret_cast<Number*>(source.data());
  for (int i = 0; i < length * pencils; ++i) {
    numbers[i] = {static_cast<Real>(std::sin(i)), static_cast<Real>(std::cos(3 * i))};
  }
  const auto run_ours = [&] {
    transform.run({source.data(), offsets.data(), pitch}, {ours.data(), offsets.data(), pitch}, pencils,
                  {scratch.data() + scratch_gap, transform.scratch_bytes()});
  };
  run_ours();
  Fftw::run(plan);
  double difference = 0;
  for (int i = 0; i < length * pencils; ++i) {
    difference = std::max<double>(
        difference, std::abs(reinterpret_cast<Number*>(ours.data())[i] - reinterpret_cast<Number*>(theirs.data())[i]));
  }
  if (!(difference < 1e-4 * std::sqrt(length))) {
    throw penstock::Error(fmt::format("{} points differ from FFTW's by {}", length, difference));
  }

  const int repetitions = std::max(1, 200'000 / (length * pencils));
  const auto time_ns = [&](const auto& run) {
    const double begin_s = penstock::seconds();
    for (int i = 0; i < repetitions; ++i) {
      run();
    }
    return (penstock::seconds() - begin_s) / repetitions / pencils * 1e9;
  };
  std::vector<double> our_times;
  std::vector<double> their_times;
  for (int round = 0; round < 101; ++round) {
    our_times.push_back(time_ns(run_ours));
    their_times.push_back(time_ns([&] { Fftw::run(plan); }));
  }
  Fftw::destroy(plan);
  const double ours_ns = *std::ranges::min_element(our_times);
  const double theirs_ns = *std::ranges::min_element(their_times);
  fmt::print("| {:>6} | {:8.1f} {:8.1f} | {:8.1f} {:8.1f} | {:5.2f} {:5.2f} | {}\n", length, ours_ns, median(our_times),
             theirs_ns, median(their_times), ours_ns / theirs_ns, median(our_times) / median(their_times),
             transform.describe());
}

}  // namespace

int main(int argc, char** argv) {
  const auto word = [&](int i, std::string_view otherwise) { return argc > i ? std::string_view(argv[i]) : otherwise; };
  try {
    Asked asked{.is_adjacent = word(1, "adjacent") == "adjacent"};
    const bool is_single = word(2, "double") == "single";
    for (const InstructionSet set : penstock::instruction_sets) {
      if (word(3, "best") == name_of(set)) {
        asked.set = set;
      }
    }
    asked.pencils = argc > 4 ? std::atoi(argv[4]) : asked.pencils;
    if (!is_usable(asked.set) || asked.pencils < 1) {
      throw penstock::Error(
          fmt::format("this processor has no {}, or {} pencils are none", name_of(asked.set), asked.pencils));
    }
    std::vector<int> lengths{64, 100, 128, 180, 181, 256, 384, 512, 1000, 1009, 1024};
    if (argc > 5) {
      lengths.assign(static_cast<std::size_t>(argc - 5), 0);
      std::transform(argv + 5, argv + argc, lengths.begin(), [](const char* text) { return std::atoi(text); });
    }
    fmt::print("| points | ours: min median, ns | FFTW's          | ratios      |\n");
    for (const int length : lengths) {
      is_single ? compare<float>(length, asked) : compare<double>(length, asked);
    }
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "transform_beside_fftw: {}\n", error.what());
    return 1;
  }
  return 0;
}
