#include "penstock/gas/core/reach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "penstock/base/base.hpp"
#if PENSTOCK_HAS_UCX
#include "penstock/ucx/ucx.hpp"
#endif

namespace penstock::gas {
namespace {

struct NamedReach {
  std::string_view name;
  Reach reach;
};

constexpr std::array<NamedReach, 8> reaches{{
    {"auto", {Reach::Mapping::where_possible, NetworkKind::automatic}},
    {"shm", {Reach::Mapping::always, NetworkKind::none}},
    {"mpi", {Reach::Mapping::never, NetworkKind::mpi}},
    {"rma", {Reach::Mapping::never, NetworkKind::rma}},
    {"ucx", {Reach::Mapping::never, NetworkKind::ucx}},
    {"shm+mpi", {Reach::Mapping::always, NetworkKind::mpi}},
    {"shm+rma", {Reach::Mapping::always, NetworkKind::rma}},
    {"shm+ucx", {Reach::Mapping::always, NetworkKind::ucx}},
}};

}  // namespace

Reach reach_named(std::string_view name) {
  const auto* const found = std::ranges::find(reaches, name, &NamedReach::name);
  if (found == reaches.end()) {
    std::string names;
    for (const NamedReach& known : reaches) {
      names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    throw Error(fmt::format("no transport of an MPI communicator is called '{}': give one of {}", name, names));
  }
  if (!PENSTOCK_HAS_MPI && name != "auto") {
    throw Error(
        fmt::format("the transport '{}' needs MPI, which this build of Penstock has not: install Open MPI or "
                    "MPICH (Debian: libopenmpi-dev or libmpich-dev) and build again, or use 'threads'",
                    name));
  }
  if (!PENSTOCK_HAS_UCX && found->reach.network == NetworkKind::ucx) {
    throw Error(
        fmt::format("the transport '{}' needs UCX, which this build of Penstock has not: install UCX (Debian: "
                    "libucx-dev) and build again, or use 'mpi' or 'rma'",
                    name));
  }
  return found->reach;
}

std::vector<std::string_view> transport_names() {
  std::vector<std::string_view> names{"auto", "threads"};
  for (const NamedReach& known : reaches) {
    if (known.name != "auto") {
      names.push_back(known.name);
    }
  }
  return names;
}

std::string_view network_name(NetworkKind network) noexcept {
  switch (network) {
    case NetworkKind::automatic:
      return "auto";
    case NetworkKind::none:
      return "shm";
    case NetworkKind::mpi:
      return "mpi";
    case NetworkKind::rma:
      return "rma";
    case NetworkKind::ucx:
      return "ucx";
  }
  return "";
}

std::string_view ucx_version() noexcept {
#if PENSTOCK_HAS_UCX
  try {
    return ucx::api().ucp_get_version_string();
  } catch (const Error&) {
    return "built in, and not to be opened here";
  }
#else
  return {};
#endif
}

}  // namespace penstock::gas
