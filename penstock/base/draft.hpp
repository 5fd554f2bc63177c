// Files that appear at their path whole or not at all, also where several processes write them. Included by base.hpp.
#pragma once

#include <string>
#include <string_view>

#include "penstock/base/error.hpp"
#include "penstock/base/file.hpp"

#pragma GCC visibility push(default)

namespace penstock {

/// The path that `path` leads to when it is a symbolic link, or a chain of them; the file there need not exist. Else
/// `path` itself. Throws Error for 40 links and more, as for a loop.
std::string follow_links(const std::string& path);

/// Whether `path` names something that takes bytes in sequence only: a pipe, a terminal, a device, or an open file of a
/// process (/dev/stdout, /dev/fd/3).
bool is_stream(const std::string& path);

/// Throws Error where `path` names a folder or a stream, so that no regular file can be made there.
void require_file_path(const std::string& path);

/// The Error thrown where the draft of a file is locked: another process writes the file, or this one does already.
class FileIsBusy : public Error {
 public:
  using Error::Error;
};

/// A file that is written as `path` + ".part" and renamed to `path` once it is complete, so that a reader finds the
/// former file or the whole new one. Where `path` is a symbolic link, both names are those of the link's target.
/// Movable, not copyable. The destructor removes a draft that was not committed.
///
/// The draft is locked: a path has one draft at a time, over all nodes that share the file system. A draft that a
/// killed process has left is emptied and written anew.
class Draft {
 public:
  /// Creates the draft, empty. Throws Error when the draft cannot be created, when `path` exists and is no regular
  /// file, when another draft of `path` is being written (FileIsBusy), and when the journal of an interrupted run lies
  /// beside `path`.
  explicit Draft(const std::string& path);
  ~Draft();
  Draft(Draft&& other) noexcept;
  Draft& operator=(Draft&& other) noexcept;

  /// The path of the draft of `path`.
  static std::string part_path(const std::string& path);
  /// The path of the journal that a resumable run keeps beside the draft of `path`.
  static std::string journal_path(const std::string& path);

  const File& file() const noexcept { return file_; }
  /// Syncs the draft to the disk and renames it to its final path; to be called once. Throws Error when either fails.
  void commit();

 private:
  std::string path_;
  File file_;
};

/// Opens and locks the draft of `path`; an existing draft keeps its content, a missing one is created. Throws
/// FileIsBusy where the draft is locked already, and Error where it cannot be created.
File open_part(const std::string& path);

/// Syncs the draft `part` to the disk and renames it to `path`, which must not be a symbolic link. The file gets the
/// permissions of the file that it replaces. Throws Error when syncing or renaming fails.
void commit_part(const File& part, const std::string& path);

/// Writes `text` as the whole content of the file `path`, through a Draft, or to the stream that `path` names.
void write_text(const std::string& path, std::string_view text);

}  // namespace penstock

#pragma GCC visibility pop
