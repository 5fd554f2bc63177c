// Each rank writes into the memory of the next one, which receives nothing and only waits: mpirun -n 3 ./put_and_signal
#include <array>
#include <cstdio>
#include <cstring>
#include <penstock/gas/gas.hpp>

namespace gas = penstock::gas;

using Letter = std::array<int, 1000>;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  {
    const gas::Team world = gas::world_of(MPI_COMM_WORLD);
    const int next = (world.rank() + 1) % world.size();
    const int previous = (world.rank() + world.size() - 1) % world.size();
    constexpr std::size_t arrived = 0;  // a segment's signals are counters, known by their numbers; here is one
    gas::Segment inbox(world, sizeof(Letter), 1);

    Letter sent;
    sent.fill(world.rank());
    inbox.put_signal(gas::Pointer<int>{next, 0}, sent, arrived);  // at offset 0 of the next rank's part

    inbox.wait(arrived, 1);  // whoever sees the signal sees the letter
    Letter received;
    std::memcpy(received.data(), inbox.local().data(), sizeof received);
    Letter expected;
    expected.fill(previous);
    is_right = received == expected;
    std::printf("rank %d of %d: a letter from rank %d %s\n", world.rank(), world.size(), previous,
                is_right ? "is here" : "should be here");
    world.barrier();
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
