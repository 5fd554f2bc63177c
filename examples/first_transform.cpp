// Transforms a wave forward and back on all ranks: mpirun -n 2 ./first_transform
#include <cmath>
#include <cstdio>
#include <penstock/fft/fft.hpp>
#include <penstock/gas/gas.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double error = 0;
  {
    const penstock::gas::Team world = penstock::gas::world_of(MPI_COMM_WORLD);
    penstock::fft::Plan<double> plan(world, {.size = {96, 100, 90}});
    const penstock::fft::Box box = plan.input().box;  // the points of this rank, x fastest, whole rows in x
    std::vector<std::complex<double>> field(box.count()), back(field), spectrum(plan.output().box.count());
    for (std::size_t i = 0; i < field.size(); ++i) {
      field[i] = std::sin(0.1 * static_cast<double>(i));
    }
    plan.forward(field, spectrum);
    plan.backward(spectrum, back, penstock::fft::Scaling::full);
    for (std::size_t i = 0; i < field.size(); ++i) {
      error = std::fmax(error, std::abs(back[i] - field[i]));
    }
    std::printf("rank %d of %d: %zu points, error %.1e\n", world.rank(), world.size(), field.size(), error);
  }
  MPI_Finalize();
  return error < 1e-14 ? 0 : 1;
}
