// From a communicator and a reach to a transport: which ranks map one another's memory.
#include "penstock/gas/transport/mpi/mpi.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "penstock/gas/transport/mpi/mpi_messages.hpp"
#include "penstock/gas/transport/mpi/mpi_transport.hpp"
#include "penstock/gas/transport/peer_watch.hpp"

namespace penstock::gas {
namespace {

/// Names the node that this process runs on: the system's start and the host's name, so that hosts that share a kernel
/// (containers, network namespaces with names of their own) count as different nodes.
std::size_t node_identity() {
  return std::hash<std::string>()(system_identity() + host_name());
}

/// For each rank of `transport` the lowest rank of its node.
std::vector<int> find_nodes(Transport& transport) {
  const std::size_t mine = node_identity();
  std::vector<std::size_t> identities(static_cast<std::size_t>(transport.size()));
  transport.all_gather(&mine, sizeof mine, identities.data());
  return lowest_alike(identities);
}

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm, const Reach& reach) {
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  if (is_initialized == 0) {
    throw Error("MPI is not initialised: call MPI_Init_thread before handing a communicator to Penstock");
  }
  int size = 0;
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  std::vector<int> own_nodes(static_cast<std::size_t>(size));
  std::iota(own_nodes.begin(), own_nodes.end(), 0);
  const auto watch = std::make_shared<PeerWatch>();
  auto apart = make_transport_over(comm, std::move(own_nodes), reach.network, watch);
  if constexpr (is_simulated) {
    return apart;  // memory that is shared shows no simulated time, and processes that do not exist do not die
  }
  const std::pair mine{reach.mapping, reach.network};
  std::vector<std::pair<Reach::Mapping, NetworkKind>> reaches(static_cast<std::size_t>(size));
  apart->all_gather(&mine, sizeof mine, reaches.data());
  if (std::ranges::count(reaches, reaches.front()) != std::ssize(reaches)) {
    throw TeamFailure("the ranks differ in how they are to reach one another: give all ranks the same transport", true);
  }
  std::vector<int> nodes = find_nodes(*apart);
  watch->begin(*apart, nodes);
  if (reach.mapping == Reach::Mapping::never) {
    return apart;
  }
  const bool is_one_node = std::count(nodes.begin(), nodes.end(), 0) == size;
  if (reach.network == NetworkKind::none && !is_one_node) {
    throw Error(
        "the transport 'shm' reaches only ranks of one node, and these ranks run on several: use 'auto' or 'mpi'");
  }
  auto together = make_transport_over(comm, std::move(nodes), reach.network, watch);
  try {
    together->map(1);  // shows whether this system lets processes map one another's memory
  } catch (const Error&) {
    if (reach.mapping == Reach::Mapping::always) {
      throw;
    }
    return apart;
  }
  return together;
}

}  // namespace penstock::gas
