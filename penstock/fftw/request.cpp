#include "penstock/fftw/request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace penstock::fftw {
namespace {

std::string text_of(const fft::Distribution& part) {
  return fmt::format("{}+{} order {} pitches {},{}", fmt::join(part.box.lower, ","), fmt::join(part.box.extent, ","),
                     fmt::join(part.order, ""), part.row_pitch, part.plane_pitch);
}

}  // namespace

std::int64_t Request::in_bytes() const noexcept {
  const bool is_real = type == fft::Type::r2r || (type == fft::Type::r2c && !is_backward);
  return real_bytes * (is_real ? 1 : 2);
}

std::int64_t Request::out_bytes() const noexcept {
  const bool is_real = type == fft::Type::r2r || (type == fft::Type::r2c && is_backward);
  return real_bytes * (is_real ? 1 : 2);
}

fft::Options Request::options(int ranks) const {
  fft::Options options{.size = size, .type = type, .kinds = kinds, .along = along, .sequence = sequence};
  options.grid = {1, ranks};
  options.input_part = space();
  options.output_part = spectrum();
  options.input_part->components = options.output_part->components = tuples;
  options.threads = threads;
  options.batch = tuples;
  options.is_interleaved = tuples > 1;
  options.effort = may_measure ? fft::Effort::measure : fft::Effort::estimate;
  return options;
}

std::string Request::key() const {
  std::string text =
      fmt::format("{} {} size {} along {} sequence {} in {} out {} tuples {} threads {} {} kinds", real_bytes,
                  static_cast<int>(type), fmt::join(size, "x"), fmt::join(along, ""), fmt::join(sequence, ""),
                  text_of(space()), text_of(spectrum()), tuples, threads, may_measure);
  for (const auto& kind : kinds) {
    text += fmt::format(" {}", kind ? static_cast<int>(*kind) : -1);
  }
  return text;
}

double Request::operations() const noexcept {
  double points = 1;
  double logarithm = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    points *= static_cast<double>(size[d]);
    logarithm += along[d] ? std::log2(static_cast<double>(size[d])) : 0;
  }
  return (type == fft::Type::c2c ? 5 : 2.5) * points * logarithm * static_cast<double>(tuples) *
         static_cast<double>(repetitions);
}

}  // namespace penstock::fftw
