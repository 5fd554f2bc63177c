#include "penstock/base/draft.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "penstock/base/error.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

/// Whether `path` is one of the system's links to the open files of a process, which name no path.
bool is_open_file(const fs::path& path) {
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(path.parent_path(), ignored);
  return folder.string().starts_with("/proc/") && folder.filename() == "fd";
}

/// The first path on the way along symbolic links for which `ends` holds, or the last.
template <class Ends>
fs::path follow(const std::string& path, Ends ends) {
  constexpr int max_links = 40;  // as Linux has it
  fs::path at = path;
  std::error_code ignored;
  for (int links = 0; links < max_links; ++links) {
    if (ends(at) || !fs::is_symlink(at, ignored)) {
      return at;
    }
    at = at.parent_path() / fs::read_symlink(at, ignored);  // of an absolute path nothing stays before it
  }
  throw Error(fmt::format("cannot write '{}': its symbolic links never end", path));
}

/// Brings a renaming to the disk. File systems that cannot are left to their own ways.
void sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    fsync(descriptor);
    close(descriptor);
  }
}

void refuse_interrupted(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(Draft::journal_path(path), ignored)) {
    return;
  }
  std::string files = fmt::format("'{}'", Draft::journal_path(path));
  for (const std::string& other : {Draft::part_path(path), path + ".scratch"}) {
    files += fs::exists(other, ignored) ? fmt::format(", '{}'", other) : "";
  }
  throw Error(
      fmt::format("an interrupted run that makes '{}' can be resumed: repeat its command, or remove {}", path, files));
}

void write_stream(const std::string& path, std::string_view text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
  while (descriptor >= 0 && !text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      break;
    }
    text.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
  const int code = errno;
  if (descriptor >= 0) {
    close(descriptor);
  }
  if (descriptor < 0 || !text.empty()) {
    throw_system_error(fmt::format("cannot write '{}'", path), code);
  }
}

}  // namespace

std::string follow_links(const std::string& path) {
  return follow(path, [](const fs::path&) { return false; }).string();
}

bool is_stream(const std::string& path) {
  const fs::path last = follow(path, is_open_file);
  std::error_code ignored;
  const fs::file_status status = fs::status(last, ignored);
  return is_open_file(last) || (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status));
}

void require_file_path(const std::string& path) {
  std::error_code ignored;
  if (path.ends_with('/') || fs::is_directory(path, ignored) || is_stream(path)) {
    throw Error(fmt::format("cannot write '{}': it is not a regular file", path));
  }
}

Draft::Draft(const std::string& path) {
  require_file_path(path);
  const std::string target = follow_links(path);
  refuse_interrupted(target);
  file_ = open_part(target);
  try {
    file_.truncate();
  } catch (...) {
    unlink(file_.path().c_str());
    throw;
  }
  path_ = target;
}

Draft::~Draft() {
  if (!path_.empty()) {
    unlink(file_.path().c_str());
  }
}

Draft::Draft(Draft&& other) noexcept
    : path_(std::exchange(other.path_, std::string())), file_(std::move(other.file_)) {}

Draft& Draft::operator=(Draft&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

std::string Draft::part_path(const std::string& path) {
  return follow_links(path) + ".part";
}

std::string Draft::journal_path(const std::string& path) {
  return follow_links(path) + ".journal";
}

void Draft::commit() {
  commit_part(file_, path_);
  path_.clear();
}

File open_part(const std::string& path) {
  const std::string part = Draft::part_path(path);
  std::optional<File> file = File::open_locked(part);
  if (!file) {
    throw FileIsBusy(fmt::format(
        "another process writes '{}' (it has locked '{}'): wait for its end, or name another file", path, part));
  }
  return std::move(*file);
}

void commit_part(const File& part, const std::string& path) {
  struct stat replaced = {};
  constexpr mode_t permissions = 0777;
  if (stat(path.c_str(), &replaced) == 0) {
    static_cast<void>(fchmod(part.descriptor(), replaced.st_mode & permissions));
  }
  part.sync();
  if (std::rename(part.path().c_str(), path.c_str()) != 0) {
    throw_system_error(fmt::format("cannot write '{}'", path), errno);
  }
  sync_folder(folder_of(path));
}

void write_text(const std::string& path, std::string_view text) {
  if (is_stream(path)) {
    write_stream(path, text);
    return;
  }
  Draft draft(path);
  draft.file().write(0, std::as_bytes(std::span(text)));
  draft.commit();
}

}  // namespace penstock
