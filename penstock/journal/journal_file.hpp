// What of a long work on files is done, in a small text file, so that a run that was killed goes on. Included by
// journal.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/file.hpp"

namespace penstock::journal {

/// Lines of text, each followed by its checksum; a line that was torn is as if it had never been written, and so are
/// those behind it. Movable; one thread at a time uses it.
///
/// The first lines say what the work is, `key` and text; then come pieces that are complete, of one kind or several,
/// each kind numbered for itself, with a checksum of their elements; at last that all is.
class Journal {
 public:
  /// Opens the journal at `path`, made if there is none, and keeps other processes out of it. Throws Error where
  /// another one has it.
  explicit Journal(const std::string& path);

  /// Whether it says what the work is.
  bool has_begun() const noexcept { return has_begun_; }
  /// What the first lines say under a key; empty where they do not.
  std::string fact(const std::string& key) const;
  using Pieces = std::map<std::int64_t, std::uint64_t>;  ///< checksums by number
  /// The kinds that it has told of pieces of.
  std::vector<std::string> kinds() const;
  /// The complete pieces of a kind.
  const Pieces& pieces(const std::string& kind) const;
  bool is_complete() const noexcept { return is_complete_; }

  /// Empties it, and says what the work is.
  void begin(const std::vector<std::pair<std::string, std::string>>& facts);
  /// Pieces number `first` and following are complete. Kinds are one word.
  void add(const std::string& kind, std::int64_t first, std::span<const std::uint64_t> sums);
  /// A piece is not complete after all.
  void forget(const std::string& kind, std::int64_t number);
  /// All is done; brought to the disk.
  void complete();
  /// Takes the file away.
  void remove();

 private:
  void read(std::string_view text);
  void take(std::string_view line);
  void append(const std::string& lines);

  File file_;
  std::int64_t end_ = 0;  // of the lines that hold
  std::map<std::string, std::string> facts_;
  std::map<std::string, Pieces> pieces_;
  bool has_begun_ = false;
  bool is_complete_ = false;
};

}  // namespace penstock::journal
