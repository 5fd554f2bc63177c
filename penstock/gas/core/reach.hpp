// The transports and their names. Included by gas.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::gas {

/// The network: it carries data between ranks that do not map one another's memory.
enum class NetworkKind {
  automatic,  ///< mpi: every MPI program has it, and it was the fastest over TCP
  none,       ///< no network: Error unless all ranks map one another's memory
  mpi,        ///< MPI messages
  rma,        ///< MPI's one-sided puts and gets; messages as with mpi
  ucx,        ///< UCX's puts, gets and active messages
};

/// How the ranks of an MPI communicator reach one another.
struct Reach {
  /// Whether the ranks of one node map one another's memory.
  enum class Mapping { never, where_possible, always };

  Mapping mapping = Mapping::where_possible;
  NetworkKind network = NetworkKind::automatic;
};

/// The capabilities of a network.
struct NetworkTraits {
  std::string_view name;      ///< "mpi", "rma" or "ucx"
  bool is_one_sided = false;  ///< puts and gets need no code to run at the peer
  bool keeps_order = false;   ///< a signal sent behind a put arrives after the data, with no wait between the two
  /// The piece length at which a put of each piece takes as long as one message with all of them packed; longer pieces
  /// are put faster singly.
  std::int64_t min_put_bytes = 0;
};

/// The transport between the ranks of a team.
struct TransportTraits {
  std::string name;                      ///< "threads", or a name of reach_named
  bool maps_memory = false;              ///< some ranks map the memory of others
  std::optional<NetworkTraits> network;  ///< to ranks whose memory is not mapped, where there are any

  /// The name of what connects the ranks that are farthest apart: the network's where there is one, else `name`.
  std::string_view farthest() const noexcept { return network ? network->name : name; }
};

/// The reach with the name "auto", "shm", "mpi", "rma", "ucx", "shm+mpi", "shm+rma" or "shm+ucx". Throws Error for
/// another name, and for a transport that this build lacks.
Reach reach_named(std::string_view name);

/// The names of all transports, built in or not: "auto", then "threads" (of run_world), then the others of reach_named.
std::vector<std::string_view> transport_names();

/// The network's name: "mpi", "rma" or "ucx"; "shm" of none, "auto" of automatic.
std::string_view network_name(NetworkKind network) noexcept;

/// The version of UCX that this process runs with. Empty where UCX is not built in; a note where it is, but cannot be
/// opened here.
std::string_view ucx_version() noexcept;

}  // namespace penstock::gas

#pragma GCC visibility pop
