#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <complex>
#include <cstring>

#include "penstock/base/numbers.hpp"
#include "penstock/transform/numbers.hpp"
#include "penstock/transform/program.hpp"

namespace penstock::transform {
namespace {

/// A vector of real parts and one of imaginary parts: of `root(point)` for each of the vector's points.
template <class Real, class Root>
void add_roots(std::vector<Real>& roots, const RowTable<Real>& table, Root root_of) {
  for (const bool is_imaginary : {false, true}) {
    for (int lane = 0; lane < table.lanes; ++lane) {
      const std::complex<long double> value = root_of(table.point_of_lane[lane]);
      roots.push_back(static_cast<Real>(is_imaginary ? value.imag() : value.real()));
    }
  }
}

/// Where passes of these radices leave output o: its digits, the first pass's fastest, are those of the place from the
/// slowest on.
std::int64_t place_of_output(std::int64_t o, const std::vector<int>& radices) {
  std::int64_t place = 0;
  for (const int radix : radices) {
    place = place * radix + o % radix;
    o /= radix;
  }
  return place;
}

/// The pass between a real pencil's spectrum and that of half as many complex points.
template <class Real>
RowStep<Real> make_real_step(std::vector<Real>& roots, Kind kind, std::int64_t length, const RowTable<Real>& table) {
  const std::int64_t lanes = table.lanes;
  const bool is_untangling = kind == Kind::real_to_complex;
  const RowStep<Real> step{.pass = is_untangling ? table.untangle : table.tangle,
                           .is_from_half = is_untangling,
                           .is_to_half = !is_untangling,
                           .block_count = length / 2,
                           .inner_pairs = (length / 4 + lanes - 1) / lanes,
                           .roots = roots.size(),
                           .butterflies = (length / 4 + lanes - 1) / lanes};
  for (std::int64_t vector = 0; vector < step.inner_pairs; ++vector) {
    add_roots(roots, table, [&](std::int64_t point) {
      return std::complex<long double>(0, -1) * root((1 + vector * lanes + point) % length, length);
    });
  }
  return step;
}

/// The passes of a complex transform whose length is no multiple of a vector's. None where a pass would have fewer
/// butterflies than a vector.
template <class Real>
void add_ragged_passes(RowProgram<Real>& program, std::vector<Real>& roots, Kind kind, std::int64_t length,
                       const RowTable<Real>& table, Algorithms algorithms) {
  constexpr std::int64_t number_bytes = 2 * sizeof(Real);
  const std::int64_t lanes = table.lanes;
  const std::vector<int> radices = algorithms.factors(length);
  if (radices.size() < 2 || length / std::ranges::max(radices) < lanes) {
    return;
  }
  const bool is_backward = kind == Kind::backward || kind == Kind::complex_to_real;
  std::int64_t block = length;  // points of a sub-transform before a pass
  for (std::size_t i = 0; i < radices.size(); ++i) {
    const std::int64_t radix = radices[i];
    const bool is_first = i == 0;
    const bool is_last = i + 1 == radices.size();
    const std::int64_t inner = block / radix;
    const std::int64_t count = length / radix;
    const std::int64_t vectors = (count + lanes - 1) / lanes;
    // The butterfly that a lane has. A pass within the work buffer may not do one again that is done.
    const auto butterfly = [&](std::int64_t vector, std::int64_t lane) {
      return is_first || is_last ? std::min(vector * lanes, count - lanes) + lane
                                 : std::min(vector * lanes + lane, count - 1);
    };
    const auto place = [&](std::int64_t index) {
      return is_last ? place_of_output(index, radices) : index / inner * block + index % inner;
    };
    const auto add_places = [&](const auto& place_of) {
      const std::size_t begin = program.places.size();
      for (std::int64_t vector = 0; vector < vectors; ++vector) {
        bool are_neighbours = true;
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          const std::int64_t at = place_of(butterfly(vector, lane));
          are_neighbours &= at == place_of(butterfly(vector, 0)) + lane;
          program.places.push_back(static_cast<std::int32_t>(at * number_bytes));
        }
        if (are_neighbours) {
          program.places[program.places.size() - static_cast<std::size_t>(lanes) + 1] = -1;
        }
      }
      return begin;
    };
    RowStep<Real> step{.pass = std::ranges::find(table.radices, radix, &RowPasses<Real>::radix)->ragged,
                       .is_from_half = is_first && kind == Kind::complex_to_real,
                       .is_to_half = is_last && kind == Kind::real_to_complex,
                       .block_count = vectors,
                       .roots = is_last ? RowStep<Real>::none : roots.size(),
                       .butterflies = vectors,
                       .from = add_places(place)};
    step.to = is_last ? add_places([](std::int64_t output) { return output; }) : step.from;
    step.from_leg_bytes = inner * number_bytes;
    step.to_leg_bytes = (is_last ? count : inner) * number_bytes;
    step.is_from_work = !is_first;
    step.is_to_work = !is_last;
    step.from_sign = is_first && is_backward ? -1 : 1;
    step.to_sign = is_last && is_backward ? -1 : 1;
    for (std::int64_t vector = 0; !is_last && vector < vectors; ++vector) {
      for (std::int64_t q = 1; q < radix; ++q) {
        add_roots(roots, table,
                  [&](std::int64_t lane) { return root(butterfly(vector, lane) % inner * q % block, block); });
      }
    }
    program.steps.push_back(step);
    block /= radix;
  }
  program.passes_length = length;
  program.text = fmt::format("rows of {}", fmt::join(radices, " x "));
}

/// The passes of a complex transform whose length is a multiple of a vector's.
template <class Real>
void add_passes(RowProgram<Real>& program, std::vector<Real>& roots, Kind kind, std::int64_t length,
                const RowTable<Real>& table, Algorithms algorithms) {
  const std::int64_t lanes = table.lanes;
  const std::int64_t vectors = length / lanes;
  const std::vector<int> radices = algorithms.factors(vectors);
  const bool is_backward = kind == Kind::backward || kind == Kind::complex_to_real;
  const bool is_from_half = kind == Kind::complex_to_real;
  const bool is_to_half = kind == Kind::real_to_complex;
  std::int64_t block = length;  // points of a sub-transform before a pass
  for (std::size_t i = 0; i < radices.size(); ++i) {
    const std::int64_t radix = radices[i];
    const auto& passes = *std::ranges::find(table.radices, radix, &RowPasses<Real>::radix);
    RowStep<Real> step{.pass = i > 0         ? passes.middle
                               : is_backward ? passes.first_backward
                                             : passes.first,
                       .is_from_half = is_from_half,
                       .is_to_half = is_to_half,
                       .block_count = length / block,
                       .inner_pairs = block / radix / lanes,
                       .roots = roots.size(),
                       .butterflies = vectors / radix};
    for (std::int64_t vector = 0; vector < step.inner_pairs; ++vector) {
      for (std::int64_t q = 1; q < radix; ++q) {
        add_roots(roots, table, [&](std::int64_t lane) { return root((vector * lanes + lane) * q % block, block); });
      }
    }
    program.steps.push_back(step);
    block /= radix;
  }
  program.steps.push_back({.pass = is_backward ? table.last_backward : table.last,
                           .is_from_half = is_from_half,
                           .is_to_half = is_to_half,
                           .block_count = vectors,
                           .inner_pairs = 0,
                           .roots = 0,
                           .butterflies = (vectors + lanes - 1) / lanes});
  for (std::int64_t o = 0; o < vectors; ++o) {
    program.blocks.push_back(
        static_cast<std::int32_t>(place_of_output(o, radices) * 2 * lanes * std::int64_t{sizeof(Real)}));
  }
  program.passes_length = vectors;
  program.text = fmt::format("rows of {} x {}", fmt::join(radices, " x "), lanes);
}

}  // namespace

template <class Real>
RowProgram<Real> make_row_program(Kind kind, std::int64_t length, const PassTable<Real>& table,
                                  const Variant& variant) {
  RowProgram<Real> program;
  const bool is_real = kind == Kind::real_to_complex || kind == Kind::complex_to_real;
  const std::int64_t points = is_real ? length / 2 : length;
  if ((is_real && length % 2 != 0) || largest_prime_factor(length) > 13) {
    return program;
  }
  const auto is_whole = [&](const RowTable<Real>& rows) {
    return rows.lanes > 0 && points % rows.lanes == 0 && points / rows.lanes >= rows.lanes;
  };
  const auto* const whole = std::ranges::find_if(table.rows, is_whole);
  const RowTable<Real>& rows = whole != std::end(table.rows) ? *whole : table.rows[0];
  std::vector<Real> roots;
  const Algorithms algorithms = algorithms_with(table, Vectors::along_pencil, variant.radices);
  if (whole != std::end(table.rows)) {
    add_passes(program, roots, kind, points, rows, algorithms);
  } else if (rows.radices[0].ragged != nullptr && (!is_real || points >= 2 * rows.lanes)) {
    add_ragged_passes(program, roots, kind, points, rows, algorithms);
  }
  if (program.steps.empty()) {
    return program;
  }
  if (is_real) {
    program.steps.insert(kind == Kind::complex_to_real ? program.steps.begin() : program.steps.end(),
                         make_real_step(roots, kind, length, rows));
  }
  const std::int64_t source_bytes = (is_real ? length + 2 : 2 * length) * std::int64_t{sizeof(Real)};
  program.ahead_bytes = round_up(source_bytes / std::ssize(program.steps), line_bytes);
  for (RowStep<Real>& step : program.steps) {
    step.ahead_bytes_at_once = round_up((program.ahead_bytes + step.butterflies - 1) / step.butterflies, line_bytes);
  }
  program.roots.resize((roots.size() + Line<Real>::count - 1) / Line<Real>::count);
  if (!roots.empty()) {
    std::memcpy(program.roots.data(), roots.data(), roots.size() * sizeof(Real));
  }
  return program;
}

template RowProgram<float> make_row_program<float>(Kind, std::int64_t, const PassTable<float>&, const Variant&);
template RowProgram<double> make_row_program<double>(Kind, std::int64_t, const PassTable<double>&, const Variant&);

}  // namespace penstock::transform
