#include "penstock/fftw/settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace penstock::fftw {
namespace {

Mode mode_from_environment() {
  const char* const asked = std::getenv("PENSTOCK_FFTW");
  const std::string_view value = asked == nullptr ? "" : asked;
  if (value == "off") {
    return Mode::off;
  }
  if (value == "stats") {
    return Mode::stats;
  }
  if (!value.empty() && value != "on") {
    std::fprintf(stderr, "penstock: PENSTOCK_FFTW is '%s'; it may be off, on or stats; going on with on\n", asked);
  }
  return Mode::on;
}

}  // namespace

Mode mode() {
  static const Mode mode = mode_from_environment();
  return mode;
}

std::int64_t min_points_alone() {
  static const std::int64_t points = [] {
    const char* const asked = std::getenv("PENSTOCK_FFTW_POINTS");
    return asked == nullptr ? std::int64_t{32} * 32 * 32 : std::atoll(asked);
  }();
  return points;
}

}  // namespace penstock::fftw
