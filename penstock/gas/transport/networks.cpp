#include "penstock/gas/transport/networks.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/transport/mpi/mpi_messages.hpp"
#include "penstock/gas/transport/mpi/mpi_network.hpp"
#include "penstock/gas/transport/rma/rma_network.hpp"
#if PENSTOCK_HAS_UCX
#include "penstock/gas/transport/ucx/ucx_network.hpp"
#endif

namespace penstock::gas {
namespace {

std::unique_ptr<Network> make_rma_network(MPI_Comm comm, std::mutex& mutex, Transport& transport,
                                          const std::shared_ptr<PeerWatch>& watch) {
  std::unique_ptr<Network> network;
  const MPI_Comm own = duplicate(comm, mutex);
  transport.barrier();  // all go into MPI's blocking call together, and none waits there for one that it should serve
  on_all(transport, [&] { network = std::make_unique<RmaNetwork>(own, mutex, watch); });
  return network;
}

#if PENSTOCK_HAS_UCX
/// Collective: every rank's bytes, in order of rank.
std::vector<std::vector<std::byte>> gather_bytes(Transport& transport, const std::vector<std::byte>& mine) {
  const auto ranks = static_cast<std::size_t>(transport.size());
  const std::size_t bytes = mine.size();
  std::vector<std::size_t> sizes(ranks);
  transport.all_gather(&bytes, sizeof bytes, sizes.data());
  const std::size_t most = *std::ranges::max_element(sizes);
  std::vector<std::byte> padded = mine;
  padded.resize(most);
  std::vector<std::byte> all(ranks * most);
  transport.all_gather(padded.data(), most, all.data());
  std::vector<std::vector<std::byte>> each;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(rank * most);
    each.emplace_back(first, first + static_cast<std::ptrdiff_t>(sizes[rank]));
  }
  return each;
}

std::unique_ptr<Network> make_ucx_network(MPI_Comm comm, std::mutex& mutex, Transport& transport,
                                          const std::shared_ptr<PeerWatch>& watch) {
  std::unique_ptr<ucx::Worker> worker;
  std::vector<std::byte> address;
  on_all(transport, [&] {
    worker = std::make_unique<ucx::Worker>(transport.size());
    address = worker->address();
  });
  std::vector<std::vector<std::byte>> addresses = gather_bytes(transport, address);
  return std::make_unique<UcxNetwork>(duplicate(comm, mutex), mutex, std::move(worker), std::move(addresses), watch);
}
#endif

}  // namespace

MadeNetwork make_network_of(NetworkKind kind, MPI_Comm comm, std::mutex& mutex, Transport& transport,
                            const std::shared_ptr<PeerWatch>& watch) {
  switch (kind) {
    case NetworkKind::rma:
      return {make_rma_network(comm, mutex, transport, watch), kind};
#if PENSTOCK_HAS_UCX
    case NetworkKind::ucx:
      return {make_ucx_network(comm, mutex, transport, watch), kind};
#endif
    default:
      return {std::make_unique<MpiNetwork>(duplicate(comm, mutex), mutex, watch), NetworkKind::mpi};
  }
}

}  // namespace penstock::gas
