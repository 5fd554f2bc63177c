// A result that is made in pieces, by runs that may be killed. Included by journal.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/draft.hpp"
#include "penstock/journal/journal_file.hpp"

#pragma GCC visibility push(default)

namespace penstock::journal {

/// A fact that must be as it was for a run to be resumed.
struct ResumeFact {
  std::string key;           ///< one word
  std::string text;          ///< one line
  std::string path = {};     ///< of the input that the fact is about; empty: the fact is about the result
  bool is_replaced = false;  ///< whether that input is the file that the result will replace
};
using ResumeKey = std::vector<ResumeFact>;

/// Adds the facts about the input `file` at `path`: its absolute path and fingerprint under `key` and, if
/// `is_verified_whole`, the checksum of the whole file under `key` + "-whole".
void add_input(ResumeKey& resume_key, const std::string& key, const std::string& path, const File& file,
               bool is_verified_whole, bool is_replaced = false);

/// What an earlier run has left for this one.
enum class ResumeState {
  anew,      ///< nothing that can be resumed
  goes_on,   ///< a draft and a journal to be resumed; whether the draft has the journal's pieces is not known yet
  complete,  ///< the result is in its place; only the journal is left to be removed
};

/// A file that is written as a draft (see Draft: `path` + ".part", locked) and renamed when it is complete, with a
/// journal of its complete pieces, `path` + ".journal". Both files stay after a failure or a kill, so that the next run
/// resumes; success removes the journal. Movable; one thread at a time uses it.
class ResumableFile {
 public:
  /// Opens the journal. `work` names the result in messages: "product". `beside` are the paths of other files that are
  /// removed with the journal. Throws Error where another process makes the same file, and where no file can be made at
  /// `path`.
  ResumableFile(const std::string& path, std::string work, std::vector<std::string> beside = {});
  /// Removes the journal if this object created it and no work has begun.
  ~ResumableFile();
  ResumableFile(ResumableFile&&) noexcept = default;
  ResumableFile& operator=(ResumableFile&&) = delete;

  Journal& journal() noexcept { return *journal_; }

  /// The facts that a journal begins with: those of `key`, and `tiling` under "tiling".
  static std::vector<std::pair<std::string, std::string>> first_lines(const ResumeKey& key, const std::string& tiling);

  /// Compares `key` with the journal of an earlier run. Throws Error where that run makes something else or had
  /// other options, and where an input has changed since it began.
  ResumeState find(const ResumeKey& key);
  /// Opens the draft, of `bytes` bytes, allocates its disk space and writes `header` at its beginning. Unless a run is
  /// resumed, empties the draft and begins the journal with `key` and `tiling`, which says how the result is cut into
  /// pieces. Throws Error where the disk is too small; if no run was resumed, no files are left then.
  File open(ResumeState state, const ResumeKey& key, const std::string& tiling, const std::string& header,
            std::int64_t bytes);
  /// Compares `key`, as it is now, with the journal. Throws Error where an input has changed since the work began.
  void check(const ResumeKey& key) const;
  /// Syncs the draft, all pieces of which are written, and renames it to `path`; then `clear`.
  void commit();
  /// Removes the journal and the files beside, once the result is in its place.
  void clear();
  /// Removes the draft, the journal and the files beside, of a run that could not begin.
  void discard();

  /// "remove 'C.part' and 'C.journal' to begin anew"
  std::string how_to_begin_anew() const;

 private:
  std::string path_;
  std::string work_;
  std::vector<std::string> beside_;
  bool is_new_ = false;  // there was no journal
  std::optional<Journal> journal_;
  std::string part_path() const { return Draft::part_path(path_); }
  std::string journal_path() const { return Draft::journal_path(path_); }
};

}  // namespace penstock::journal

#pragma GCC visibility pop
