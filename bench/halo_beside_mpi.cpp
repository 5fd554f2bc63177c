// Is our exchange of ghost cells faster than MPI's? A halo of a periodic field that is cut along z, faces alone, beside
// MPI_Neighbor_alltoallw with derived types: in the same run, repetitions interleaved.
//
// usage: halo_beside_mpi [SIZE] [WIDTH] [REPETITIONS]
// for example: mpirun -n 2 halo_beside_mpi 256 2 31
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"

namespace {

using penstock::fft::Box;
using penstock::fft::Extents;

/// The exchange of the same cells by MPI: of the faces of a rank's cells, 3-D array [z][y][x] with the halo around.
class MpiHalo {
 public:
  MpiHalo(const Box& box, int width) {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::array<int, 3> grid{ranks, 1, 1};
    const std::array<int, 3> is_periodic{1, 1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 3, grid.data(), is_periodic.data(), 0, &comm_);
    const auto extent = [&](std::size_t d) { return static_cast<int>(box.extent[d]); };
    const std::array<int, 3> inside{extent(2), extent(1), extent(0)};
    const std::array<int, 3> all{inside[0] + 2 * width, inside[1] + 2 * width, inside[2] + 2 * width};
    for (std::size_t d = 0; d < 3; ++d) {
      for (const bool is_above : {false, true}) {
        std::array<int, 3> cells = inside;
        cells[d] = width;
        std::array<int, 3> begin{width, width, width};
        begin[d] = is_above ? inside[d] : width;
        sent_.push_back(type_of(all, cells, begin));
        begin[d] = is_above ? inside[d] + width : 0;
        received_.push_back(type_of(all, cells, begin));
      }
    }
  }

  void exchange(double* cells) const {
    const std::array<int, 6> ones{1, 1, 1, 1, 1, 1};
    const std::array<MPI_Aint, 6> zeros{};
    MPI_Neighbor_alltoallw(cells, ones.data(), zeros.data(), sent_.data(), cells, ones.data(), zeros.data(),
                           received_.data(), comm_);
  }

 private:
  static MPI_Datatype type_of(const std::array<int, 3>& all, const std::array<int, 3>& cells,
                              const std::array<int, 3>& begin) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(3, all.data(), cells.data(), begin.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<MPI_Datatype> sent_, received_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    const auto team = penstock::gas::world_of(MPI_COMM_WORLD);
    const std::int64_t n = number(1, 256);
    const std::int64_t width = number(2, 2);
    const int repetitions = std::max(number(3, 31), 1);
    const auto z = penstock::shape::part_of(n, team.size(), team.rank());
    const Box box{{0, 0, z.lower}, {n, n, z.extent}};
    penstock::fft::Halo halo(team, {.size = {n, n, n},
                                    .box = box,
                                    .below = {width, width, width},
                                    .above = {width, width, width},
                                    .has_corners = false,
                                    .element_bytes = sizeof(double)});
    const MpiHalo mpi(box, static_cast<int>(width));
    std::vector<double> ours(static_cast<std::size_t>(halo.array().elements()));
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ours[i] = static_cast<double>(i) + 1e9 * team.rank();
    }
    std::vector<double> theirs = ours;
    halo.exchange(std::span(ours));
    mpi.exchange(theirs.data());
    team.agree(ours == theirs ? "" : "the halos differ");
    std::vector<double> ours_s, theirs_s;
    for (int i = 0; i < repetitions; ++i) {
      ours_s.push_back(penstock::gas::time_together(team, [&] { halo.exchange(std::span(ours)); }));
      theirs_s.push_back(penstock::gas::time_together(team, [&] { mpi.exchange(theirs.data()); }));
    }
    if (team.rank() == 0) {
      std::ranges::sort(ours_s);
      std::ranges::sort(theirs_s);
      const auto middle = ours_s.size() / 2;
      fmt::print("{}^3 doubles, {} ranks, width {}, {} interleaved repetitions\n", n, team.size(), width, repetitions);
      fmt::print("  Penstock  min {:.3f} ms  median {:.3f} ms\n", 1e3 * ours_s.front(), 1e3 * ours_s[middle]);
      fmt::print("  MPI       min {:.3f} ms  median {:.3f} ms   ours is {:.2f} and {:.2f} times as fast\n",
                 1e3 * theirs_s.front(), 1e3 * theirs_s[middle], theirs_s.front() / ours_s.front(),
                 theirs_s[middle] / ours_s[middle]);
    }
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
