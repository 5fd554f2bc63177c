// Heat spreads in a periodic box: each rank has a part of the field with a halo of its neighbours' cells around it, and
// computes the cells that need no others while the halo is filled. mpirun -n 4 ./diffusion
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <penstock/fft/fft.hpp>
#include <penstock/gas/gas.hpp>
#include <utility>
#include <vector>

namespace fft = penstock::fft;
namespace gas = penstock::gas;

namespace {

constexpr fft::Extents size{48, 40, 36};
constexpr int steps = 60;
constexpr double rate = 0.1;  // diffusivity times the time step, over the square of the distance of cells

constexpr fft::Extents waves{1, 2, 1};

/// A standing wave, which every step multiplies by a constant factor.
double wave(std::int64_t x, std::int64_t y, std::int64_t z) {
  double product = 1;
  const fft::Extents point{x, y, z};
  for (std::size_t d = 0; d < 3; ++d) {
    product *= std::cos(2 * std::numbers::pi * static_cast<double>(waves[d] * point[d]) / static_cast<double>(size[d]));
  }
  return product;
}

double factor() {
  double sum = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    sum += 2 * std::cos(2 * std::numbers::pi * static_cast<double>(waves[d]) / static_cast<double>(size[d])) - 2;
  }
  return 1 + rate * sum;
}

/// Calls `visit(position)` for the cells of a box.
template <class Visit>
void for_each(const fft::Distribution& array, const fft::Box& box, const Visit& visit) {
  for (std::int64_t z = box.lower[2]; z < box.lower[2] + box.extent[2]; ++z) {
    for (std::int64_t y = box.lower[1]; y < box.lower[1] + box.extent[1]; ++y) {
      for (std::int64_t x = box.lower[0]; x < box.lower[0] + box.extent[0]; ++x) {
        visit(array.position(x, y, z), x, y, z);
      }
    }
  }
}

/// The box cut into its inner cells, whose neighbours are all in it, and up to six slabs around these.
std::vector<fft::Box> inner_and_slabs(fft::Box box) {
  std::vector<fft::Box> slabs;
  for (std::size_t d = 0; d < 3; ++d) {
    for (const bool is_above : {false, true}) {
      if (box.extent[d] > 0) {
        fft::Box slab = box;
        slab.extent[d] = 1;
        slab.lower[d] += is_above ? box.extent[d] - 1 : 0;
        box.lower[d] += is_above ? 0 : 1;
        box.extent[d] -= 1;
        slabs.push_back(slab);
      }
    }
  }
  slabs.insert(slabs.begin(), box);
  return slabs;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double error = 0;
  {
    const gas::Team world = gas::world_of(MPI_COMM_WORLD);
    // As a plan has them: a spectral program would transform the same array, where it lies.
    const fft::Box box = fft::Plan<double>(world, {.size = size, .type = fft::Type::r2c}).input().box;
    fft::Halo halo(world, {.size = size, .box = box, .has_corners = false, .element_bytes = sizeof(double)});
    const fft::Distribution& array = halo.array();
    const auto [dx, dy, dz] = array.strides();
    std::vector<double> heat(static_cast<std::size_t>(array.elements()));
    std::vector<double> next(heat.size());
    for_each(array, box, [&](std::int64_t at, std::int64_t x, std::int64_t y, std::int64_t z) {
      heat[static_cast<std::size_t>(at)] = wave(x, y, z);
    });

    const std::vector<fft::Box> parts = inner_and_slabs(box);
    for (int step = 0; step < steps; ++step) {
      const auto spread = [&](const fft::Box& part) {
        for_each(array, part, [&](std::int64_t at, auto...) {
          const double* const cell = heat.data() + at;
          const double around = cell[-dx] + cell[dx] + cell[-dy] + cell[dy] + cell[-dz] + cell[dz];
          next[static_cast<std::size_t>(at)] = cell[0] + rate * (around - 6 * cell[0]);
        });
      };
      halo.start(std::as_writable_bytes(std::span(heat)));
      spread(parts.front());  // meanwhile
      halo.finish();
      std::for_each(parts.begin() + 1, parts.end(), spread);
      std::swap(heat, next);
    }

    double mine = 0;
    for_each(array, box, [&](std::int64_t at, std::int64_t x, std::int64_t y, std::int64_t z) {
      mine = std::max(mine, std::abs(heat[static_cast<std::size_t>(at)] - std::pow(factor(), steps) * wave(x, y, z)));
    });
    error = world.largest(mine);
    if (world.rank() == 0) {
      std::printf("%d steps on %d ranks, largest error %.1e\n", steps, world.size(), error);
    }
  }
  MPI_Finalize();
  return error < 1e-13 ? 0 : 1;
}
