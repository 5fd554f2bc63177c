#include "penstock/interpose/presence.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

namespace penstock::interpose {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The launcher's process on this node, from which all ranks there descend: MPICH's by its name, as a shell may stand
/// between it and the program; else the parent.
pid_t launcher() {
  pid_t each = getppid();
  while (each > 1) {
    // "number (name) state parent ...", of which the name may have blanks and brackets.
    std::string line;
    std::getline(std::ifstream(fmt::format("/proc/{}/stat", each)), line);
    const std::size_t begin = line.find('(');
    const std::size_t end = line.rfind(") ");
    if (begin == std::string::npos || end == std::string::npos || end + 4 >= line.size()) {
      break;
    }
    if (std::string_view(line).substr(begin + 1, end - begin - 1) == "hydra_pmi_proxy") {
      return each;
    }
    each = std::atoi(line.c_str() + end + 4);
  }
  return getppid();
}

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&name); }
};

/// The abstract name of a rank. The number is that of this protocol: libraries that do not understand one another do
/// not see one another.
Address address_of(const std::string& job, const std::string& rank) {
  constexpr int protocol = 1;
  Address address;
  address.name.sun_family = AF_UNIX;
  const auto [end, length] = fmt::format_to_n(address.name.sun_path + 1, sizeof address.name.sun_path - 1,
                                              "penstock-mpi-{}-{:x}-{}", protocol, std::hash<std::string>{}(job), rank);
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

}  // namespace

Presence::Presence() {
  const std::string space = variable("PMIX_NAMESPACE");
  if (!space.empty()) {
    // The server's address has a port: no two jobs of a node have it at a time.
    job_ = fmt::format("{} {} {}{}{}", getuid(), space, variable("PMIX_SERVER_URI41"), variable("PMIX_SERVER_URI4"),
                       variable("PMIX_SERVER_URI2"));
    rank_ = variable("PMIX_RANK");
  } else if (!variable("PMI_FD").empty() || !variable("PMI_PORT").empty()) {
    job_ = fmt::format("{} child of {}", getuid(), launcher());
    rank_ = variable("PMI_RANK");
  }
}

Presence::~Presence() {
  if (socket_ >= 0) {
    close(socket_);
  }
}

void Presence::announce() noexcept {
  if (job_.empty() || rank_.empty() || socket_ >= 0) {
    return;
  }
  socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const Address address = address_of(job_, rank_);
  if (socket_ >= 0 && bind(socket_, address.get(), address.length) != 0) {
    close(socket_);
    socket_ = -1;
  }
}

bool Presence::sees(int world_rank) const noexcept {
  if (socket_ < 0) {
    return false;
  }
  const int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) {
    return false;
  }
  const Address address = address_of(job_, std::to_string(world_rank));
  const bool is_there = connect(probe, address.get(), address.length) == 0;
  close(probe);
  return is_there;
}

}  // namespace penstock::interpose
