// A program that says, by its status, whether MPI is called by one thread at a time, as MPI_THREAD_SERIALIZED wants it,
// while a progress thread polls and teams and exchanges are made, used and freed. MPI's profiling interface lets it see
// each call; a call that makes or frees something takes a moment longer, so that another beside it is seen.
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "penstock/gas/gas.hpp"

namespace {

std::atomic<int> threads_inside = 0;
std::atomic<int> calls_beside_another = 0;
std::atomic<int> calls_that_make = 0;

class Call {
 public:
  explicit Call(bool makes = false) {
    if (threads_inside.fetch_add(1) > 0) {
      ++calls_beside_another;
    }
    if (makes) {
      ++calls_that_make;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  ~Call() { threads_inside.fetch_sub(1); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

}  // namespace

extern "C" {

int MPI_Send_init(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const Call call(true);
  return PMPI_Send_init(data, count, type, peer, tag, comm, request);
}

int MPI_Recv_init(void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  const Call call(true);
  return PMPI_Recv_init(data, count, type, peer, tag, comm, request);
}

int MPI_Request_free(MPI_Request* request) {
  const Call call(true);
  return PMPI_Request_free(request);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* copy, MPI_Request* request) {
  const Call call(true);
  return PMPI_Comm_idup(comm, copy, request);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  const Call call(true);
  return PMPI_Comm_split(comm, color, key, part);
}

int MPI_Comm_free(MPI_Comm* comm) {
  const Call call(true);
  return PMPI_Comm_free(comm);
}

int MPI_Test(MPI_Request* request, int* is_done, MPI_Status* status) {
  const Call call;
  return PMPI_Test(request, is_done, status);
}

int MPI_Start(MPI_Request* request) {
  const Call call;
  return PMPI_Start(request);
}

int MPI_Iallgather(const void* mine, int count, MPI_Datatype type, void* all, int all_count, MPI_Datatype all_type,
                   MPI_Comm comm, MPI_Request* request) {
  const Call call;
  return PMPI_Iallgather(mine, count, type, all, all_count, all_type, comm, request);
}

}  // extern "C"

namespace {

namespace gas = penstock::gas;

/// Each rank sends some bytes to the next one.
void exchange(const gas::Team& team) {
  constexpr std::size_t bytes = 1000;
  const int to = (team.rank() + 1) % team.size();
  const int from = (team.rank() + team.size() - 1) % team.size();
  const gas::Segment segment(team, bytes, 0);
  gas::Exchange exchange(team, segment, {{.peer = to, .offset = 0, .bytes = bytes, .index = 0}},
                         {{.peer = from, .offset = 0, .bytes = bytes}});
  exchange.open();
  exchange.destination(0);
  exchange.send(0);
  exchange.wait(0);
  exchange.finish();
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  {
    const gas::Team team = gas::world_of(MPI_COMM_WORLD, gas::reach_named("mpi"));
    const gas::ProgressThread thread(team, std::chrono::microseconds(0));
    for (int round = 0; round < 10; ++round) {
      exchange(team.split(0, team.rank()));   // a copy
      exchange(team.split(0, -team.rank()));  // another order
    }
    team.barrier();
  }
  MPI_Finalize();
  if (calls_that_make == 0 || calls_beside_another > 0) {
    std::fprintf(stderr, "%d of MPI's calls began beside another thread's; %d made or freed something\n",
                 calls_beside_another.load(), calls_that_make.load());
    return 1;
  }
  return 0;
}
