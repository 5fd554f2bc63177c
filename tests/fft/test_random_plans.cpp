// Plans over all options together, drawn at random, against the definition. How many is read from PENSTOCK_TEST_PLANS,
// else few; the first one's seed from PENSTOCK_TEST_SEED, else 1. The seeds of those that fail are told.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "penstock/fft/fft.hpp"
#include "tests/fft/draws.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* const asked = std::getenv(name);
  return asked == nullptr ? otherwise : std::stoull(asked);
}

Options draw_options(Draws& draws, const gas::Team& team) {
  Options options;
  for (std::int64_t& n : options.size) {
    n = draws.number(1, 5) == 1 ? draws.number(1, 3) : draws.number(1, 20);
  }
  options.type = draws.one_of<Type>({Type::c2c, Type::r2c, Type::r2r});
  const bool has_real_kinds = options.type == Type::r2r || draws.coin();
  for (auto& kind : options.kinds) {
    if (has_real_kinds && draws.number(0, 2) > 0) {
      kind = static_cast<RealKind>(draws.number(0, 10));
    }
  }
  options.along = {draws.number(0, 3) > 0, draws.number(0, 3) > 0, draws.number(0, 3) > 0};
  if (options.type == Type::r2c && options.along == std::array{false, false, false}) {
    options.along = {true, true, true};
  }
  draws.shuffle(options.sequence);
  const auto is_fourier = [&](int d) { return options.along[static_cast<std::size_t>(d)] && !real_kind(options, d); };
  if (options.type == Type::r2c && !(is_fourier(0) || is_fourier(1) || is_fourier(2))) {
    options.kinds = {};
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (options.kinds[d] == RealKind::redft00) {
      options.size[d] = std::max<std::int64_t>(options.size[d], 2);
    }
  }
  const bool has_modes = draws.number(0, 2) == 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const bool is_of_waves = options.kinds[d] >= RealKind::r2hc;
    if (has_modes && options.along[d] && !is_of_waves && draws.coin()) {
      options.modes[d] = draws.number(1, options.size[d]);
    }
  }
  options.effort = Effort::estimate;
  if (draws.coin()) {
    const int ty = static_cast<int>(draws.number(1, team.size()));
    options.grid = team.size() % ty == 0 ? Grid{ty, team.size() / ty} : Grid{};
  }
  options.output = draws.coin() ? Output::transposed : Output::as_input;
  options.threads = static_cast<int>(draws.number(1, 3));
  options.batch = static_cast<int>(draws.number(1, 9) == 1 ? 8 : draws.number(1, 3));
  options.is_interleaved = draws.coin();
  if (draws.coin()) {
    options.planes_per_message = draws.number(0, 5);
  }
  if (draws.coin()) {
    options.deferred_parts = draws.number(0, 7);
  }
  options.movers = draws.coin() ? Movers::compiled : Movers::ahead_of_time;
  options.collocates = draws.number(0, 2) == 0 && options.along != std::array{false, false, false};
  options.has_arrays = draws.number(0, 2) == 0;
  const std::int64_t components = options.is_interleaved ? options.batch : 1;
  if (draws.coin()) {
    options.input_part = draw_part(draws, team, options.size, components);
  }
  if (draws.coin()) {
    options.output_part = draw_part(draws, team, spectrum_points(options), components);
  }
  return options;
}

/// The error that is allowed. Small sums that are doubled lose more than those of Fourier transforms.
template <class Real>
double allowed(const Options& options) {
  return (options.kinds == decltype(options.kinds){} ? 1 : 4) * tolerance<Real>({20, 20, 20});
}

std::string text_of(const Distribution& part) {
  return fmt::format("{} + {} order {} pitches {}, {}", fmt::join(part.box.lower, ","), fmt::join(part.box.extent, ","),
                     fmt::join(part.order, ""), part.row_pitch, part.plane_pitch);
}

std::string text_of(const Options& options) {
  std::string text = fmt::format(
      "size {}, modes {}, type {}, along {}, sequence {}, grid {}x{}, output {}, threads {}, batch {}{}, planes {}, "
      "deferred {}{}{}, kinds",
      fmt::join(options.size, "x"), fmt::join(options.modes, "x"), static_cast<int>(options.type),
      fmt::join(options.along, ","), fmt::join(options.sequence, ""), options.grid.ty, options.grid.tz,
      static_cast<int>(options.output), options.threads, options.batch, options.is_interleaved ? " interleaved" : "",
      options.planes_per_message.value_or(-1), options.deferred_parts.value_or(-1),
      options.collocates ? ", collocates" : "", options.has_arrays ? ", arrays of its own" : "");
  for (int d = 0; d < 3; ++d) {
    const auto kind = real_kind(options, d);
    text += fmt::format(" {}", kind ? static_cast<int>(*kind) : -1);
  }
  text += options.input_part ? ", input " + text_of(*options.input_part) : "";
  text += options.output_part ? ", output " + text_of(*options.output_part) : "";
  return text;
}

TEST(RandomPlans, AgreeWithTheDefinition) {
  const std::uint64_t first = number_from("PENSTOCK_TEST_SEED", 1);
  const std::uint64_t plans = number_from("PENSTOCK_TEST_PLANS", 40);
  gas::on_worlds({1, 2, 3, 4, 5, 6, 7}, [&](gas::Team& team) {
    for (std::uint64_t seed = first; seed < first + plans; ++seed) {
      Draws draws(seed);
      const Options options = draw_options(draws, team);
      const Scaling scaling = draws.one_of<Scaling>({Scaling::none, Scaling::symmetric, Scaling::full});
      const bool is_in_place = draws.coin() && !options.has_arrays;
      const double error = draws.coin()
                               ? worst_error<double>(team, options, scaling, is_in_place) / allowed<double>(options)
                               : worst_error<float>(team, options, scaling, is_in_place) / allowed<float>(options);
      EXPECT_LE(error, 1) << fmt::format("PENSTOCK_TEST_SEED={} PENSTOCK_TEST_PLANS=1 on {} ranks: ", seed, team.size())
                          << text_of(options) << (is_in_place ? ", in place" : "");
    }
  });
}

}  // namespace
}  // namespace penstock::fft
