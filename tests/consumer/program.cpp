// A user's program: it meets Penstock by its public headers and one library, as installed or as a subdirectory.
#include <complex>
#include <cstdio>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/layout/layout.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/mover/mover.hpp"
#include "penstock/npy/npy.hpp"

int main() {
  using namespace penstock;
  const machine::Machine parsed = machine::parse(machine::format(machine::built_in()), "text");
  const gas::Team alone = gas::world_alone();
  fft::Options options;
  options.size = {8, 6, 5};
  options.effort = fft::Effort::estimate;
  fft::Plan<double> plan(alone, options);
  std::vector<std::complex<double>> field(8 * 6 * 5);
  field[0] = 1;
  plan.forward(field, field);
  double error = 0;
  for (const std::complex<double>& coefficient : field) {
    error += std::abs(coefficient - 1.0);  // the transform of an impulse is one everywhere
  }
  const layout::Layout column = layout::Layout::strided(5, 16, layout::Layout::contiguous(8));
  const mover::Mover move = mover::Mover::compile(column, layout::Layout::contiguous(column.bytes()));
  std::printf("Penstock %s, %s, %lld bytes moved, error %g\n", PENSTOCK_VERSION, parsed.name.c_str(),
              static_cast<long long>(move.bytes()), error);
  return error < 1e-12 && npy::element_bytes(npy::DataType::complex64) == 8 ? 0 : 1;
}
