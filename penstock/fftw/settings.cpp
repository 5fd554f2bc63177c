#include "penstock/fftw/settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "penstock/machine/machine.hpp"

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

bool is_large_alone(const Alone& transform) {
  static const char* const least_points = std::getenv("PENSTOCK_FFTW_POINTS");
  if (least_points != nullptr) {
    return transform.points >= std::atof(least_points);
  }
  // Measured on Zen 4 with 1 and 2 threads, see docs/decisions/fftw.md.
  const std::int64_t least_caches = transform.is_estimated ? 1 : 4;
  const std::int64_t sharing = transform.fields >= transform.threads ? 1 : transform.threads;
  static const std::int64_t cache_l2_bytes = machine::detect().node.cache_l2_bytes;
  return transform.field_bytes >= static_cast<double>(least_caches * cache_l2_bytes * sharing);
}

}  // namespace penstock::fftw
