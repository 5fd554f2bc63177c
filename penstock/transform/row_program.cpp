#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <complex>
#include <cstring>

#include "penstock/transform/numbers.hpp"
#include "penstock/transform/program.hpp"

namespace penstock::transform {
namespace {

template <class Real>
void add_steps(RowProgram<Real>& program, std::int64_t length, const RowTable<Real>& table, Algorithms algorithms) {
  const std::int64_t lanes = table.lanes;
  const std::int64_t vectors = length / lanes;
  const std::vector<int> radices = algorithms.factors(vectors);
  std::vector<Real> roots;
  std::int64_t block = length;  // points of a sub-transform before a pass
  for (std::size_t i = 0; i < radices.size(); ++i) {
    const std::int64_t radix = radices[i];
    const auto& passes = *std::ranges::find(table.radices, radix, &RowPasses<Real>::radix);
    RowStep<Real> step{.pass = i == 0 ? passes.first : passes.middle,
                       .pass_backward = i == 0 ? passes.first_backward : passes.middle,
                       .block_count = length / block,
                       .inner_pairs = block / radix / lanes,
                       .roots = roots.size()};
    for (std::int64_t vector = 0; vector < step.inner_pairs; ++vector) {
      for (std::int64_t q = 1; q < radix; ++q) {
        for (const bool is_imaginary : {false, true}) {
          for (std::int64_t lane = 0; lane < lanes; ++lane) {
            const std::int64_t point = vector * lanes + table.point_of_lane[lane];
            const std::complex<long double> value = root(point * q % block, block);
            roots.push_back(static_cast<Real>(is_imaginary ? value.imag() : value.real()));
          }
        }
      }
    }
    program.steps.push_back(step);
    block /= radix;
  }
  program.steps.push_back({.pass = table.last, .pass_backward = table.last_backward, .block_count = vectors});
  for (std::int64_t o = 0; o < vectors; ++o) {  // the digits of an output, the first pass's fastest
    std::int64_t place = 0;
    std::int64_t rest = o;
    for (const int radix : radices) {
      place = place * radix + rest % radix;
      rest /= radix;
    }
    program.blocks.push_back(static_cast<std::int32_t>(place));
  }
  program.roots.resize((roots.size() + Line<Real>::count - 1) / Line<Real>::count);
  if (!roots.empty()) {
    std::memcpy(program.roots.data(), roots.data(), roots.size() * sizeof(Real));
  }
  program.text = fmt::format("rows of {} x {}", fmt::join(radices, " x "), lanes);
}

}  // namespace

template <class Real>
RowProgram<Real> make_row_program(std::int64_t length, const PassTable<Real>& table) {
  RowProgram<Real> program;
  for (const RowTable<Real>& rows : table.rows) {
    const std::int64_t lanes = rows.lanes;
    if (lanes > 0 && length % lanes == 0 && length / lanes >= lanes && largest_prime_factor(length) <= 13) {
      add_steps(program, length, rows, algorithms_with(table));
      break;
    }
  }
  return program;
}

template RowProgram<float> make_row_program<float>(std::int64_t, const PassTable<float>&);
template RowProgram<double> make_row_program<double>(std::int64_t, const PassTable<double>&);

}  // namespace penstock::transform
