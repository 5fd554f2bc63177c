// Heat spreads over a plate that lies on all ranks as one global array: each rank reads its block with a border of its
// neighbours' cells in one call, wherever these lie, and writes the next state in place. mpirun -n 4 ./jacobi
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <penstock/gas/gas.hpp>
#include <vector>

namespace gas = penstock::gas;

namespace {

constexpr std::int64_t rows = 60;
constexpr std::int64_t columns = 90;
constexpr int steps = 50;

/// Half a wave down the plate and a whole one across, cold at the edges: each step shrinks it by a constant factor.
double wave(const gas::Index<2>& cell) {
  return std::sin(std::numbers::pi * static_cast<double>(cell[0] + 1) / (rows + 1)) *
         std::sin(2 * std::numbers::pi * static_cast<double>(cell[1] + 1) / (columns + 1));
}
const double factor = (std::cos(std::numbers::pi / (rows + 1)) + std::cos(2 * std::numbers::pi / (columns + 1))) / 2;

/// A box with one cell more on each side, as far as the plate goes.
gas::Box<2> with_border(const gas::Box<2>& box) {
  gas::Box<2> larger;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t end = std::min(box.lower[d] + box.extent[d] + 1, d == 0 ? rows : columns);
    larger.lower[d] = std::max<std::int64_t>(box.lower[d] - 1, 0);
    larger.extent[d] = end - larger.lower[d];
  }
  return larger;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double error = 0;
  {
    const gas::Team world = gas::world_of(MPI_COMM_WORLD);
    gas::GlobalArray<double, 2> plate(world, {.extents = {rows, columns}});
    gas::GlobalArray<double, 2> next(world, {.extents = {rows, columns}});
    plate.for_each_local([](const gas::Index<2>& cell, double& heat) { heat = wave(cell); });
    world.barrier();

    for (int step = 0; step < steps; ++step) {
      for (const gas::Box<2>& block : plate.boxes(world.rank())) {  // one at most in this distribution
        // Room for the block and its border; what lies beyond the plate stays 0.
        const std::int64_t stride = block.extent[1] + 2;
        std::vector<double> old(static_cast<std::size_t>((block.extent[0] + 2) * stride));
        double* const corner = old.data() + stride + 1;  // the block's first cell
        const gas::Box<2> around = with_border(block);
        double* const first = corner + (around.lower[0] - block.lower[0]) * stride + (around.lower[1] - block.lower[1]);
        plate.start_get(around, first, {stride, 1}).wait();
        const gas::View<double, 2> mine = next.view();
        for (std::int64_t i = 0; i < block.extent[0]; ++i) {
          for (std::int64_t j = 0; j < block.extent[1]; ++j) {
            const double* const cell = corner + i * stride + j;
            mine(i, j) = (cell[-stride] + cell[stride] + cell[-1] + cell[1]) / 4;
          }
        }
      }
      world.barrier();  // all have read the old state and written the new one
      std::swap(plate, next);
    }

    double mine = 0;
    plate.for_each_local([&](const gas::Index<2>& cell, double heat) {
      mine += std::abs(heat - wave(cell) * std::pow(factor, steps)) / (rows * columns);
    });
    for (const double part : world.all_gather(mine)) {
      error += part;
    }
    if (world.rank() == 0) {
      std::printf("%d steps on %d ranks, a grid of %d x %d: mean error %.1e\n", steps, world.size(),
                  static_cast<int>(plate.grid()[0]), static_cast<int>(plate.grid()[1]), error);
    }
    world.barrier();
  }
  MPI_Finalize();
  return error < 1e-13 ? 0 : 1;
}
