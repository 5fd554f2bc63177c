// Files that many threads or ranks read and write at given offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#pragma GCC visibility push(default)

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
  /// Opens a file for reading and writing; a missing file is created, an existing one emptied.
  static File create(const std::string& path);
  /// Opens a file for reading and writing and locks it as long as it is open; a missing file is created, an existing
  /// one keeps its content. Returns none where the file is locked already: in this process or another one, on this node
  /// or another one that shares the file system. Throws Error as `create` does, and for a symbolic link. Throws Error
  /// also for an existing file on a file system without locks, where nothing tells whether a process still writes it.
  static std::optional<File> open_locked(const std::string& path);
  /// As `open`, `open_for_writing` and `create`; reads and writes bypass the page cache where the file system supports
  /// it (O_DIRECT). Offsets, lengths and memory addresses have to be multiples of `scratch_alignment`.
  static File open_direct(const std::string& path);
  static File open_direct_for_writing(const std::string& path);
  static File create_direct(const std::string& path);
  /// Creates a file without a name in `folder`, for reading and writing. The system removes the file when the last
  /// process that has it open closes it or is killed. The page cache and alignment are as for `open_direct`.
  static File scratch(const std::string& folder);
  static constexpr std::int64_t scratch_alignment = 4096;
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  const std::string& path() const noexcept { return path_; }
  /// The file descriptor, which stays owned by this object.
  int descriptor() const noexcept { return descriptor_; }
  /// The length now, in bytes.
  std::int64_t size() const;
  /// Empties the file.
  void truncate() const;
  /// Reads from byte `offset` of the file on until `bytes` is full; throws Error when the file ends before.
  void read(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Writes all of `bytes` from byte `offset` of the file on.
  void write(std::int64_t offset, std::span<const std::byte> bytes) const;
  /// Sets the file's length to `bytes`, and allocates its disk space now where the file system can, so that no later
  /// write finds the disk full. Throws Error where the disk is too small.
  void reserve(std::int64_t bytes) const;
  /// Asks the system to prefetch these bytes into its page cache, for reads that come soon. The call is a hint: it does
  /// not wait for the bytes, and a system that cannot do it does nothing.
  void read_ahead(std::int64_t offset, std::size_t bytes) const noexcept;
  /// Asks the system to drop from its page cache what the disk has of the file. A hint, as `read_ahead`.
  void drop_from_cache() const noexcept;
  /// Whether reads and writes bypass the page cache.
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

/// The folder of the file `path`; "." where `path` has none.
std::string folder_of(const std::string& path);

/// The whole content of the file `path`. Throws Error as `File::open` and `File::read` do.
std::string read_text(const std::string& path);

}  // namespace penstock

#pragma GCC visibility pop
