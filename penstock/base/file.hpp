// Files read and written at stated places by many threads or ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

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
  /// Opens a file for reading and writing, made if there is none, with what it holds, and locks it as long as it is
  /// open. None where it is locked already: in this process or another one, on this node or another one that shares the
  /// file system. Throws Error as `create` does, and for a file that is there already on a file system that has no
  /// locks, as nothing tells there whether a process is still at work on it.
  static std::optional<File> open_locked(const std::string& path);
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
  /// Empties the file.
  void truncate() const;
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
  /// Asks the system to drop from its page cache what the disk has of the file. A hint, as `read_ahead`.
  void drop_from_cache() const noexcept;
  /// Whether reads and writes pass by the page cache.
  bool passes_by_cache() const noexcept;
  /// Returns when everything written is on the disk.
  void sync() const;

 private:
  File(std::string path, int flags);
  void require_regular(const char* action);
  bool is_at_its_path() const;
  static File past_cache(const std::string& path, int flags);
  std::string path_;
  int descriptor_ = -1;
};

/// The folder that a path names, "." where it names none.
std::string folder_of(const std::string& path);

/// The whole content of a file.
std::string read_text(const std::string& path);

}  // namespace penstock
