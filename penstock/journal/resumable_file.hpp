// A result that is made in pieces, by runs that may be killed. Included by journal.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/draft.hpp"
#include "penstock/journal/journal_file.hpp"

namespace penstock::journal {

/// What must be as it was for a run to go on.
struct ResumeFact {
  std::string key;           ///< one word
  std::string text;          ///< one line
  std::string path = {};     ///< of the input that it tells of; none: it tells what is made
  bool is_replaced = false;  ///< that input is what the result will replace
};
using ResumeKey = std::vector<ResumeFact>;

/// What must be as it was of the input `file`, given as `path`: its fingerprint, under `key`, and where that is wanted
/// the checksum of all of it, under `key` + "-whole".
void add_input(ResumeKey& resume_key, const std::string& key, const std::string& path, const File& file,
               bool is_verified_whole, bool is_replaced = false);

/// How a run stands to earlier ones.
enum class ResumeState {
  anew,      ///< there is nothing to go on with
  goes_on,   ///< the pieces in the journal may be there
  complete,  ///< the result is in its place; only the journal is left to be removed
};

/// A file that is written as a draft (see Draft: `path` + ".part", locked) and renamed when it is complete, with a
/// journal, `path` + ".journal", of the pieces that are. All of it stays after a failure or a kill, so that the next
/// run goes on, and goes with success. Movable; one thread at a time uses it.
class ResumableFile {
 public:
  /// Takes up the journal. `work` is a word for what is made, for messages: "product"; `beside` are the paths of other
  /// files that last as long as the work. Throws Error where another process makes the same, or `path` cannot be made.
  ResumableFile(const std::string& path, std::string work, std::vector<std::string> beside = {});
  /// Removes the journal where this has made it and nothing was begun.
  ~ResumableFile();
  ResumableFile(ResumableFile&&) noexcept = default;
  ResumableFile& operator=(ResumableFile&&) = delete;

  Journal& journal() noexcept { return *journal_; }

  /// What the journal is begun with: the key, and `tiling` under that key.
  static std::vector<std::pair<std::string, std::string>> first_lines(const ResumeKey& key, const std::string& tiling);

  /// Compares with what an earlier run was about. Throws Error where there is a run of something else, or of inputs
  /// that have changed since.
  ResumeState find(const ResumeKey& key);
  /// The file to write, of `bytes` bytes, which begins with `header`, its room on disk taken. Where it is begun anew,
  /// the journal is told the key, and besides `tiling`, under that key: how the result is cut into pieces. Throws
  /// Error where the disk has no room; nothing is left then.
  File open(ResumeState state, const ResumeKey& key, const std::string& tiling, const std::string& header,
            std::int64_t bytes);
  /// Throws Error where an input is not what it was when the work was begun.
  void check(const ResumeKey& key) const;
  /// All pieces are written, and on the disk: gives the file its name and removes what was beside.
  void commit();
  /// Removes what was beside a result that is in its place.
  void clear();
  /// Removes what a run that could not begin has made.
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
