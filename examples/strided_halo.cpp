// A block of cells whose faces across x go straight into the neighbours' blocks, strided as they lie, and each put
// tells of itself: no pack buffer, no receive, no barrier between steps. mpirun -n 3 ./strided_halo
#include <cstdio>
#include <penstock/gas/gas.hpp>
#include <penstock/layout/layout.hpp>

namespace gas = penstock::gas;
using penstock::layout::Layout;

namespace {

constexpr std::int64_t nx = 20;  // with a plane of the neighbours' cells on either side
constexpr std::int64_t ny = 30;
constexpr std::int64_t nz = 10;

std::size_t at(std::int64_t z, std::int64_t y, std::int64_t x) {
  return static_cast<std::size_t>((z * ny + y) * nx + x);
}

/// The plane of cells at `x`.
Layout face(std::int64_t x) {
  return Layout::subarray({{nz, ny, nx}}, {{0, 0, x}}, {{nz, ny, 1}}, sizeof(double));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = true;
  {
    const gas::Team world = gas::world_of(MPI_COMM_WORLD);
    const int right = (world.rank() + 1) % world.size();
    const int left = (world.rank() + world.size() - 1) % world.size();
    constexpr std::size_t from_left = 0;
    constexpr std::size_t from_right = 1;
    constexpr std::size_t has_read = 2;  // by both neighbours: what they were sent may be overwritten
    gas::Segment block(world, nx * ny * nz * sizeof(double), 3);
    const auto cells = block.local_as<double>();
    const std::byte* const mine = block.local().data();

    for (std::uint64_t step = 1; step <= 5; ++step) {
      for (std::int64_t z = 0; z < nz; ++z) {
        for (std::int64_t y = 0; y < ny; ++y) {
          for (std::int64_t x = 1; x < nx - 1; ++x) {
            cells[at(z, y, x)] =
                world.rank() * 1e6 + static_cast<double>(step * 1000) + static_cast<double>(z * ny + y);
          }
        }
      }
      block.wait(has_read, 2 * (step - 1));
      gas::Put to_right = block.start_put_signal({right, 0}, face(0), mine, face(nx - 2), from_left);
      gas::Put to_left = block.start_put_signal({left, 0}, face(nx - 1), mine, face(1), from_right);
      block.wait(from_left, step);
      block.wait(from_right, step);
      for (std::int64_t z = 0; z < nz; ++z) {
        for (std::int64_t y = 0; y < ny; ++y) {
          const double inside = static_cast<double>(step * 1000) + static_cast<double>(z * ny + y);
          is_right = is_right && cells[at(z, y, 0)] == left * 1e6 + inside;
          is_right = is_right && cells[at(z, y, nx - 1)] == right * 1e6 + inside;
        }
      }
      block.notify(left, has_read);
      block.notify(right, has_read);
      to_right.source.wait();
      to_left.source.wait();
    }
    std::printf("rank %d: %s\n", world.rank(), is_right ? "all halos right" : "WRONG halos");
    world.barrier();
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
