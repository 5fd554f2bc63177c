#include "penstock/base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "penstock/base/error.hpp"
#include "penstock/base/units.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(const std::string& action, const std::string& path, int code) {
  throw_system_error(fmt::format("cannot {} '{}'", action, path), code);
}

[[noreturn]] void refuse_opening(const char* action, const std::string& path, int flags, int code) {
  if (code != ENOENT) {
    refuse(action, path, code);
  }
  throw Error(fmt::format("cannot {} '{}': {}", action, path,
                          (flags & O_CREAT) != 0 ? "its folder does not exist; create the folder first"
                                                 : "there is no such file; check the path"));
}

/// Calls a system function again for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

}  // namespace

File::File(std::string path, int flags) : path_(std::move(path)) {
  // Without O_NONBLOCK the opening of a pipe would wait for a peer for ever; on a regular file it changes nothing.
  constexpr mode_t mode = 0666;  // less what the user's umask takes away
  descriptor_ = uninterrupted([&] { return ::open(path_.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode); });
  const char* action = (flags & O_ACCMODE) == O_RDONLY ? "read" : "write";
  if (descriptor_ < 0) {
    refuse_opening(action, path_, flags, errno);
  }
  require_regular(action);
}

void File::require_regular(const char* action) {
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(std::exchange(descriptor_, -1));
    throw Error(fmt::format("cannot {} '{}': it is not a regular file", action, path_));
  }
}

File File::open(const std::string& path) {
  return {path, O_RDONLY};
}

File File::open_for_writing(const std::string& path) {
  return {path, O_RDWR};
}

File File::create(const std::string& path) {
  return {path, O_RDWR | O_CREAT | O_TRUNC};
}

std::optional<File> File::open_locked(const std::string& path) {
  while (true) {
    File file;
    file.path_ = path;
    constexpr mode_t mode = 0666;
    constexpr int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK;
    file.descriptor_ = uninterrupted([&] { return ::open(path.c_str(), flags | O_CREAT | O_EXCL, mode); });
    const bool is_new = file.descriptor_ >= 0;
    if (!is_new) {
      if (errno != EEXIST) {
        refuse_opening("write", path, O_CREAT, errno);
      }
      file.descriptor_ = uninterrupted([&] { return ::open(path.c_str(), flags | O_NOFOLLOW); });
      if (file.descriptor_ < 0 && errno == ENOENT) {
        continue;  // whoever had it has just removed or renamed it
      }
      if (file.descriptor_ < 0) {
        refuse("write", path, errno);
      }
      file.require_regular("write");
    }
    if (uninterrupted([&] { return flock(file.descriptor_, LOCK_EX | LOCK_NB); }) != 0) {
      if (errno == EWOULDBLOCK) {
        return std::nullopt;
      }
      if (!is_new) {
        throw Error(
            fmt::format("'{}' is there already, and its file system has no locks that tell whether a process "
                        "writes it: remove it where none does",
                        path));
      }
    }
    // Another process may have renamed or removed the file between the opening and the locking.
    if (file.is_at_its_path()) {
      return file;
    }
  }
}

bool File::is_at_its_path() const {
  struct stat here = {};
  struct stat there = {};
  return fstat(descriptor_, &here) == 0 && stat(path_.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

File File::open_direct(const std::string& path) {
  return past_cache(path, O_RDONLY);
}

File File::open_direct_for_writing(const std::string& path) {
  return past_cache(path, O_RDWR);
}

File File::create_direct(const std::string& path) {
  return past_cache(path, O_RDWR | O_CREAT | O_TRUNC);
}

File File::past_cache(const std::string& path, int flags) {
  File file(path, flags);
  // Not every file system can: then it stays as it was opened.
  static_cast<void>(fcntl(file.descriptor_, F_SETFL, fcntl(file.descriptor_, F_GETFL) | O_DIRECT));
  return file;
}

File File::scratch(const std::string& folder) {
  File file;
  file.path_ = folder;
  constexpr mode_t mode = 0600;
  for (const int bypass : {O_DIRECT, 0}) {  // not every file system can without the page cache
    file.descriptor_ =
        uninterrupted([&] { return ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | bypass, mode); });
    if (file.descriptor_ >= 0) {
      return file;
    }
  }
  // Nor has every one files without names: one is made, and its name taken away.
  std::string named = folder + "/.penstock-scratch-XXXXXX";
  file.descriptor_ = mkostemp(named.data(), O_CLOEXEC);
  if (file.descriptor_ < 0) {
    refuse("write", file.path_, errno);
  }
  unlink(named.c_str());
  return file;
}

File::~File() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

File::File(File&& other) noexcept : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

std::int64_t File::size() const {
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0) {
    refuse("read", path_, errno);
  }
  return status.st_size;
}

void File::read(std::int64_t offset, std::span<std::byte> bytes) const {
  const std::int64_t start = offset;
  const std::size_t wanted = bytes.size();
  while (!bytes.empty()) {
    const ssize_t count = uninterrupted([&] { return pread(descriptor_, bytes.data(), bytes.size(), offset); });
    if (count < 0) {
      refuse("read", path_, errno);
    }
    if (count == 0) {
      throw Error(fmt::format("cannot read {} bytes at byte {} of '{}': the file ends at byte {}", wanted, start, path_,
                              offset));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
}

void File::write(std::int64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = uninterrupted([&] { return pwrite(descriptor_, bytes.data(), bytes.size(), offset); });
    if (count < 0) {
      refuse("write", path_, errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
}

void File::reserve(std::int64_t bytes) const {
  // Not posix_fallocate: where a file system cannot reserve, that writes into every block instead.
  const int reserved = bytes == 0 ? 0 : uninterrupted([&] { return fallocate(descriptor_, 0, 0, bytes); });
  if (reserved == 0 || errno == EOPNOTSUPP || errno == ENOSYS) {
    if (uninterrupted([&] { return ftruncate(descriptor_, bytes); }) == 0) {
      return;
    }
  }
  refuse(fmt::format("write {} to", format_bytes(static_cast<std::uint64_t>(bytes))), path_, errno);
}

void File::truncate() const {
  if (uninterrupted([&] { return ftruncate(descriptor_, 0); }) != 0) {
    refuse("write", path_, errno);
  }
}

void File::read_ahead(std::int64_t offset, std::size_t bytes) const noexcept {
  posix_fadvise(descriptor_, offset, static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

void File::drop_from_cache() const noexcept {
  posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
}

bool File::passes_by_cache() const noexcept {
  return (fcntl(descriptor_, F_GETFL) & O_DIRECT) != 0;
}

void File::sync() const {
  if (uninterrupted([&] { return fsync(descriptor_); }) != 0) {
    refuse("write", path_, errno);
  }
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string read_text(const std::string& path) {
  const File file = File::open(path);
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace penstock
