// Random updates of a table that lies on all ranks (GUPS, as in the HPC Challenge), by atomic addition, so that none is
// lost; then all are taken back, and the table has to be what it was: mpirun -n 2 ./random_access [LOG2_OF_TABLE]
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <penstock/gas/gas.hpp>

namespace gas = penstock::gas;

namespace {

/// The generator of the HPC Challenge: shifts over the polynomial x^63 + x^2 + x + 1.
std::uint64_t next(std::uint64_t value) {
  return value << 1 ^ ((value >> 63) != 0 ? 7U : 0U);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  {
    const gas::Team world = gas::world_of(MPI_COMM_WORLD);
    const auto ranks = static_cast<std::uint64_t>(world.size());
    const std::uint64_t words = std::uint64_t{1} << (argc > 1 ? std::clamp(std::atoi(argv[1]), 4, 30) : 14);
    const std::uint64_t per_rank = (words + ranks - 1) / ranks;
    const std::uint64_t updates = 4 * words / ranks;
    gas::Segment table(world, per_rank * sizeof(std::uint64_t), 0);
    const auto mine = table.local_as<std::uint64_t>();
    for (std::uint64_t i = 0; i < per_rank; ++i) {
      mine[i] = static_cast<std::uint64_t>(world.rank()) * per_rank + i;
    }
    world.barrier();

    const auto update_all = [&](bool is_forth) {
      std::uint64_t value = 0x9e3779b97f4a7c15U * static_cast<std::uint64_t>(world.rank() + 1);
      for (std::uint64_t i = 0; i < updates; ++i) {
        value = next(value);
        const std::uint64_t word = value % words;
        const gas::Pointer<std::uint64_t> first{static_cast<int>(word / per_rank), 0};
        table.fetch_add(first + word % per_rank, is_forth ? value : -value);
      }
      world.barrier();
    };
    const double start_s = MPI_Wtime();
    update_all(true);
    const double time_s = MPI_Wtime() - start_s;
    const auto is_as_begun = [&] {
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < per_rank; ++i) {
        wrong += mine[i] != static_cast<std::uint64_t>(world.rank()) * per_rank + i ? 1 : 0;
      }
      std::uint64_t sum = 0;
      for (const std::uint64_t other : world.all_gather(wrong)) {
        sum += other;
      }
      return sum == 0;
    };
    const bool has_changed = !is_as_begun();
    world.barrier();
    update_all(false);
    is_right = has_changed && is_as_begun();
    if (world.rank() == 0) {
      std::printf("%llu updates on %d ranks: %.2f million a second, %.0f%% of the table in huge pages, %s\n",
                  static_cast<unsigned long long>(updates * ranks), world.size(),
                  static_cast<double>(updates * ranks) / time_s / 1e6,
                  100 * static_cast<double>(table.bytes_in_huge_pages()) / static_cast<double>(table.local().size()),
                  is_right ? "all right" : "WRONG");
    }
    world.barrier();
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
