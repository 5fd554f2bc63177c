// The library's transform on real data, checked.
#include "penstock/base/base.hpp"
#include "run.hpp"

namespace penstock::simulate {

Checked run_transform(const gas::Team& team, const fft::Options& options) {
  field::Fields<double> fields(team, options);
  const auto source = field::make_noise(options.size, options.type);
  const double error = field::check(team, fields, *source, fft::Scaling::none);
  const field::RoundTrips times = field::time_round_trips(team, fields, fft::Scaling::none, 1);
  return {
      .relative_error = error, .tolerance = field::tolerance<double>(options.size), .time_s = times.forward.min_s()};
}

}  // namespace penstock::simulate
