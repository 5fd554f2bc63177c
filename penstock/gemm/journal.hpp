// What of a multiply in files is done, in a small text file beside C, so that a run that was killed goes on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/file.hpp"

namespace penstock::gemm {

/// Lines of text, each followed by its checksum; a line that was torn is as if it had never been written, and so are
/// those behind it. Movable; the lines are appended by one thread at a time.
///
/// The first lines say what is multiplied, `key` and text; then come tiles that are complete, with a checksum of their
/// elements; at last that all is.
class Journal {
 public:
  /// Opens the journal at `path`, made if there is none, and keeps other processes out of it. Throws Error where
  /// another one has it.
  explicit Journal(const std::string& path);

  /// Whether it says what is multiplied.
  bool has_begun() const noexcept { return has_begun_; }
  /// What the first lines say under a key; empty where they do not.
  std::string fact(const std::string& key) const;
  using Tile = std::pair<std::int64_t, std::int64_t>;  ///< row and column of tiles
  const std::map<Tile, std::uint64_t>& tiles() const noexcept { return tiles_; }
  bool is_complete() const noexcept { return is_complete_; }

  /// Empties it, and says what is multiplied.
  void begin(const std::vector<std::pair<std::string, std::string>>& facts);
  void add_tile(Tile tile, std::uint64_t sum);
  /// All is done; brought to the disk.
  void complete();
  /// Takes the file away.
  void remove();

 private:
  void read(std::string_view text);
  void take(std::string_view line);
  void append(const std::string& line);

  File file_;
  std::int64_t end_ = 0;  // of the lines that hold
  std::map<std::string, std::string> facts_;
  std::map<Tile, std::uint64_t> tiles_;
  bool has_begun_ = false;
  bool is_complete_ = false;
};

}  // namespace penstock::gemm
