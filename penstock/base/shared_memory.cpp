// Shared memory is an anonymous file (memfd): it gets huge pages where the system gives them, is not bound by the size
// of /dev/shm, and is gone with its last process. Peers open it through /proc/PID/fd.
#include "penstock/base/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "penstock/base/error.hpp"
#include "penstock/base/units.hpp"

namespace penstock {

SharedMemory::SharedMemory(std::size_t bytes) {
  if (bytes == 0) {
    return;
  }
  fd_ = memfd_create("penstock", MFD_CLOEXEC);
  if (fd_ < 0) {
    throw_system_error("cannot create shared memory", errno);
  }
  try {
    struct stat status {};
    if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0 || fstat(fd_, &status) != 0) {
      throw_system_error(fmt::format("cannot create {} of shared memory", format_bytes(bytes)), errno);
    }
    memory_ = Memory(fd_, bytes, true);
    ticket_ = {.process = getpid(), .descriptor = fd_, .inode = status.st_ino, .device = status.st_dev, .bytes = bytes};
  } catch (...) {
    close(fd_);
    throw;
  }
}

SharedMemory::~SharedMemory() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), memory_(std::move(other.memory_)), ticket_(other.ticket_) {}

Memory map_shared_memory(const SharedMemoryTicket& ticket) {
  if (ticket.bytes == 0) {
    return {};
  }
  const std::string path = fmt::format("/proc/{}/fd/{}", ticket.process, ticket.descriptor);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    throw_system_error(fmt::format("cannot open the shared memory of process {}", ticket.process), errno);
  }
  try {
    struct stat status {};
    if (fstat(fd, &status) != 0 || status.st_ino != ticket.inode || status.st_dev != ticket.device) {
      throw Error(fmt::format("cannot open the shared memory of process {}: it runs in another process namespace",
                              ticket.process));
    }
    Memory memory(fd, ticket.bytes, false);
    close(fd);
    return memory;
  } catch (...) {
    close(fd);
    throw;
  }
}

}  // namespace penstock
