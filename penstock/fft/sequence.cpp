#include "penstock/fft/sequence.hpp"

#include <algorithm>
#include <cstddef>

#include "penstock/fft/direction_index.hpp"

namespace penstock::fft {
namespace {

template <class T>
std::array<T, 3> picked(const std::array<T, 3>& from, const std::array<int, 3>& sequence) {
  return {from[at(sequence[0])], from[at(sequence[1])], from[at(sequence[2])]};
}

/// The place of each direction in the sequence.
std::array<int, 3> inverse_of(const std::array<int, 3>& sequence) {
  std::array<int, 3> places{};
  for (int i = 0; i < 3; ++i) {
    places[at(sequence[at(i)])] = i;
  }
  return places;
}

}  // namespace

Options in_sequence(const Options& options) {
  Options numbered = options;
  numbered.size = picked(options.size, options.sequence);
  numbered.modes = picked(options.modes, options.sequence);
  numbered.kinds = picked(options.kinds, options.sequence);
  numbered.along = picked(options.along, options.sequence);
  numbered.sequence = {0, 1, 2};
  numbered.input_part.reset();
  numbered.output_part.reset();
  return numbered;
}

Distribution in_sequence(const Distribution& part, const std::array<int, 3>& sequence) {
  Distribution numbered = part;
  numbered.box = {picked(part.box.lower, sequence), picked(part.box.extent, sequence)};
  numbered.order = picked(inverse_of(sequence), part.order);
  return numbered;
}

Distribution from_sequence(const Distribution& part, const std::array<int, 3>& sequence) {
  return in_sequence(part, inverse_of(sequence));
}

}  // namespace penstock::fft
