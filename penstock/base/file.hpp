// Files read and written at stated places by many threads or ranks, and files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace penstock {

/// An open regular file, closed on destruction. Movable, not copyable; the reads and writes are thread-safe.
///
/// Every failure throws an Error that names the path: a missing file or folder, a path that is no regular file, a
/// denied permission, a full disk.
class File {
 public:
  File() = default;
  /// Opens an existing file for reading.
  static File open(const std::string& path);
  /// Opens an existing file for reading and writing.
  static File open_for_writing(const std::string& path);
  /// Opens a file for reading and writing, made if there is none and emptied if there is one.
  static File create(const std::string& path);
  /// As `open`, `open_for_writing` and `create`, past the page cache where the file system lets it: offsets, lengths
  /// and memory are aligned to `scratch_alignment`.
  static File open_direct(const std::string& path);
  static File open_direct_for_writing(const std::string& path);
  static File create_direct(const std::string& path);
  /// A file without a name in the folder `folder`, gone with its last user, also where that is killed. Reads and writes
  /// pass by the page cache where the file system lets them: offsets, lengths and memory are aligned to
  /// `scratch_alignment`.
  static File scratch(const std::string& folder);
  static constexpr std::int64_t scratch_alignment = 4096;
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  const std::string& path() const noexcept { return path_; }
  /// The system's number of the open file, which stays this object's.
  int descriptor() const noexcept { return descriptor_; }
  /// The length now, in bytes.
  std::int64_t size() const;
  /// Fills `bytes` from `offset` on; Error when the file ends before.
  void read(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Writes all of `bytes` from `offset` on.
  void write(std::int64_t offset, std::span<const std::byte> bytes) const;
  /// Makes the file `bytes` long and takes the room on disk now, where the file system can, so that no later write
  /// finds the disk full.
  void reserve(std::int64_t bytes) const;
  /// Asks the system to bring these bytes into its page cache, for reads that come soon. A hint: returns when it is
  /// given, and a system that cannot do it does nothing.
  void read_ahead(std::int64_t offset, std::size_t bytes) const noexcept;
  /// Whether reads and writes pass by the page cache.
  bool passes_by_cache() const noexcept;
  /// Returns when everything written is on the disk.
  void sync() const;
  /// Keeps other processes from locking the file as long as it is open here; false where one has locked it.
  bool lock() const;

 private:
  File(std::string path, int flags);
  static File past_cache(const std::string& path, int flags);
  std::string path_;
  int descriptor_ = -1;
};

/// A file written beside its final place, as `path` + ".part", and renamed there once it is complete, so that a reader
/// finds the former file or the whole new one. Movable, not copyable; a draft never committed removes its file.
class Draft {
 public:
  /// Creates the file beside. Throws Error when it cannot be made there, or when `path` exists and is no regular file.
  explicit Draft(const std::string& path);
  ~Draft();
  Draft(Draft&& other) noexcept;
  Draft& operator=(Draft&& other) noexcept;

  /// Where the draft of `path` lies.
  static std::string part_path(const std::string& path);
  const File& file() const noexcept { return file_; }
  /// Brings the content to the disk and renames it to the final path; once.
  void commit();

 private:
  std::string path_;
  File file_;
};

/// The folder that a path names, "." where it names none.
std::string folder_of(const std::string& path);

/// The whole content of a file.
std::string read_text(const std::string& path);

/// Writes `text` as the whole content of the file `path`, through a Draft.
void write_text(const std::string& path, std::string_view text);

}  // namespace penstock
