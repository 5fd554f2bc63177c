// Files that appear whole or not at all, whoever else writes them. Included by base.hpp.
#pragma once

#include <string>
#include <string_view>

#include "penstock/base/error.hpp"
#include "penstock/base/file.hpp"

namespace penstock {

/// The file that is written where `path` is to be written: symbolic links are followed, also to a file that is not
/// there yet. Throws Error where the links never end.
std::string follow_links(const std::string& path);

/// Whether what `path` names takes bytes in order alone: a pipe, a terminal, a device, or an open file of a process
/// (/dev/stdout, /dev/fd/3).
bool is_stream(const std::string& path);

/// Throws Error where no file can be made at `path` because something else is there: a folder, a stream.
void require_file_path(const std::string& path);

/// Thrown where another process writes the file.
class FileIsBusy : public Error {
 public:
  using Error::Error;
};

/// A file written beside its final place, as `path` + ".part", and renamed there once it is complete, so that a reader
/// finds the former file or the whole new one. Where `path` is a symbolic link, the final place is what the link names.
/// Movable, not copyable; a draft never committed removes its file.
///
/// The file is locked, so that a path has one draft at a time, on all nodes that share the file system. A draft that a
/// killed process has left is written anew.
class Draft {
 public:
  /// Creates the file beside. Throws Error when it cannot be made there, when `path` exists and is no regular file,
  /// when another draft of `path` is being written, and when the journal of an interrupted run lies beside `path`.
  explicit Draft(const std::string& path);
  ~Draft();
  Draft(Draft&& other) noexcept;
  Draft& operator=(Draft&& other) noexcept;

  /// Where the draft of `path` lies.
  static std::string part_path(const std::string& path);
  /// Where a run that can be resumed keeps its journal beside the draft of `path`.
  static std::string journal_path(const std::string& path);

  const File& file() const noexcept { return file_; }
  /// Brings the content to the disk and renames it to the final path; once.
  void commit();

 private:
  std::string path_;
  File file_;
};

/// Opens the draft of `path`, made if there is none, with what the draft holds, and locks it. Throws FileIsBusy where
/// another process writes it, and Error where a file cannot be made there.
File open_part(const std::string& path);

/// Brings a draft to the disk and renames it to `path`, which no link names. The file has the permissions of the one
/// that it replaces.
void commit_part(const File& part, const std::string& path);

/// Writes `text` as the whole content of the file `path`, through a Draft, or to the stream that `path` names.
void write_text(const std::string& path, std::string_view text);

}  // namespace penstock
