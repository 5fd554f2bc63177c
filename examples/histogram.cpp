// Every rank draws numbers and counts them in bins that lie on all ranks: mpirun -n 3 ./histogram
#include <cstdio>
#include <penstock/gas/gas.hpp>
#include <random>
#include <vector>

namespace gas = penstock::gas;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  {
    constexpr std::size_t bins_per_rank = 16;
    constexpr int draws = 20000;
    const gas::Team world = gas::world_of(MPI_COMM_WORLD);
    const auto ranks = static_cast<std::size_t>(world.size());
    gas::Segment bins(world, bins_per_rank * sizeof(std::uint64_t), 0);

    std::mt19937_64 random(static_cast<std::uint64_t>(world.rank()));
    std::binomial_distribution<std::size_t> draw(bins_per_rank * ranks - 1, 0.5);
    std::vector<std::uint64_t> drawn(bins_per_rank * ranks);
    for (int i = 0; i < draws; ++i) {
      const std::size_t bin = draw(random);
      ++drawn[bin];
      const gas::Pointer<std::uint64_t> first{static_cast<int>(bin / bins_per_rank), 0};
      bins.fetch_add(first + bin % bins_per_rank, 1);
    }
    world.barrier();

    // Beside the sums of what each rank says that it drew.
    std::vector<std::uint64_t> expected(bins_per_rank);
    for (std::size_t bin = 0; bin < bins_per_rank * ranks; ++bin) {
      for (const std::uint64_t count : world.all_gather(drawn[bin])) {
        if (bin / bins_per_rank == static_cast<std::size_t>(world.rank())) {
          expected[bin % bins_per_rank] += count;
        }
      }
    }
    const auto mine = bins.local_as<std::uint64_t>();
    is_right = std::equal(expected.begin(), expected.end(), mine.begin());
    std::printf("rank %d: %s\n", world.rank(), is_right ? "all counts right" : "WRONG counts");
    world.barrier();
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
