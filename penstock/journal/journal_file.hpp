// The journal of a long work on files: a small text file that lists the complete pieces, so that a killed run can be
// resumed. Included by journal.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/file.hpp"

#pragma GCC visibility push(default)

namespace penstock::journal {

/// Lines of text, each followed by its checksum. A line whose checksum does not hold was torn: it and the lines after
/// it are ignored. Movable; one thread at a time uses it.
///
/// The first lines are facts about the work, a key and a text each. Then come the complete pieces: kind, number within
/// the kind, checksum of the elements. The last line says that all is complete.
class Journal {
 public:
  /// Opens and locks the journal at `path`; a missing one is created. Throws Error where it is locked already.
  explicit Journal(const std::string& path);

  /// Whether the journal has its facts.
  bool has_begun() const noexcept { return has_begun_; }
  /// The fact under a key; empty where there is none.
  std::string fact(const std::string& key) const;
  using Pieces = std::map<std::int64_t, std::uint64_t>;  ///< checksums by number
  /// The kinds of which pieces were entered.
  std::vector<std::string> kinds() const;
  /// The complete pieces of a kind.
  const Pieces& pieces(const std::string& kind) const;
  bool is_complete() const noexcept { return is_complete_; }

  /// Empties the journal and writes the facts about the work.
  void begin(const std::vector<std::pair<std::string, std::string>>& facts);
  /// Enters complete pieces, from number `first` on, one for each checksum. A kind is one word.
  void add(const std::string& kind, std::int64_t first, std::span<const std::uint64_t> sums);
  /// Enters that a piece is not complete after all.
  void forget(const std::string& kind, std::int64_t number);
  /// Enters that all is complete, and syncs the journal to the disk.
  void complete();
  /// Removes the file.
  void remove();

 private:
  void read(std::string_view text);
  void take(std::string_view line);
  void append(const std::string& lines);

  File file_;
  std::int64_t end_ = 0;  // of the lines whose checksums hold
  std::map<std::string, std::string> facts_;
  std::map<std::string, Pieces> pieces_;
  bool has_begun_ = false;
  bool is_complete_ = false;
};

}  // namespace penstock::journal

#pragma GCC visibility pop
