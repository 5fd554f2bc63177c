// Files of results, found to be writable before the work and written after it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/draft.hpp"
#include "penstock/cli/core/session.hpp"

namespace penstock::cli {

/// Text that an option sends to a file, to a stream ("-" is standard output), or nowhere (no path). The first rank
/// writes.
class ResultFile {
 public:
  /// Collective. Throws Error on every rank where the file cannot be written, before any work is done for it.
  ResultFile(const Session& session, std::string_view option, const std::string& path);

  /// Whether this rank's `write` goes anywhere.
  bool is_written() const noexcept { return !stream_path_.empty() || draft_; }
  /// Writes `text`, whole, once; on other ranks than the first it does nothing. Throws Error where the disk is full.
  void write(std::string_view text);

 private:
  std::string stream_path_;  // "-": standard output
  std::optional<Draft> draft_;
  std::optional<Interruption::Unfinished> unfinished_;
};

/// Throws Error where two of the paths are the same, and not empty.
void refuse_equal_paths(const std::vector<std::string>& paths);

}  // namespace penstock::cli
