// Which transports there are, by name. Included by gas.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gas {

/// What carries data between ranks that do not map one another's memory.
enum class NetworkKind {
  automatic,  ///< mpi, which every MPI program has and which was the best over TCP
  none,       ///< nothing: an error unless all ranks map one another's memory
  mpi,        ///< MPI messages
  rma,        ///< MPI's one-sided puts and gets, beside its messages
  ucx,        ///< UCX's puts, gets and active messages
};

/// How the ranks of an MPI communicator reach one another.
struct Reach {
  /// Whether the ranks of one node map one another's memory.
  enum class Mapping { never, where_possible, always };

  Mapping mapping = Mapping::where_possible;
  NetworkKind network = NetworkKind::automatic;
};

/// What a network can do.
struct NetworkTraits {
  std::string_view name;      ///< "mpi", "rma" or "ucx"
  bool is_one_sided = false;  ///< it reads and writes the memory of peers with no help of code there
  bool keeps_order = false;   ///< a put's signal follows its data, and nothing is waited for between them
  /// Pieces of so many bytes take as long put one by one as packed into one message; longer ones are put faster.
  std::int64_t min_put_bytes = 0;
};

/// What carries data between the ranks of a team.
struct TransportTraits {
  std::string name;                      ///< "threads", or as reach_named has it
  bool maps_memory = false;              ///< some ranks map the memory of others
  std::optional<NetworkTraits> network;  ///< to the others, where there are any

  /// What is between the ranks that are farthest apart: the network's name, or that of the whole.
  std::string_view farthest() const noexcept { return network ? network->name : name; }
};

/// The reach with the name "auto", "shm", "mpi", "rma", "ucx", "shm+mpi", "shm+rma" or "shm+ucx". Throws Error where
/// `name` is none of them, or needs what is not built in.
Reach reach_named(std::string_view name);

/// The names of all transports, built in or not: "auto", then "threads" (of run_world), then the others of reach_named.
std::vector<std::string_view> transport_names();

/// The name of a network that is not automatic; "shm" of none.
std::string_view network_name(NetworkKind network) noexcept;

/// The version of UCX that this process runs with; empty where it is not built in.
std::string_view ucx_version() noexcept;

}  // namespace penstock::gas
