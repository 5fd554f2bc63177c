// The ledger: the journals of all ranks that make one result together, and the pieces that these say are complete.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/gas/gas.hpp"
#include "penstock/journal/journal.hpp"

namespace penstock::fft {

/// The journals of all ranks: each rank adds to its own, and knows what stands in all of them since they last shared
/// it. That of rank 0 is the result's; the others lie beside it, as its path + ".1" and so on. A journal that is left
/// there by a run of other ranks is taken into rank 0's: what it says is trusted no more than the rest, as every piece
/// is compared with its checksum.
class RankJournals {
 public:
  using Pieces = journal::Journal::Pieces;
  using FirstLines = std::vector<std::pair<std::string, std::string>>;

  /// Collective. `of_result` is rank 0's journal, at `path`, which has begun with `first_lines`; null on other ranks.
  /// Where the work does not go on, the other journals are begun anew.
  RankJournals(const gas::Team& team, journal::Journal* of_result, const std::string& path,
               const FirstLines& first_lines, bool goes_on);

  /// This rank's.
  journal::Journal& mine() noexcept { return of_result_ != nullptr ? *of_result_ : *own_; }
  /// The complete pieces of a kind, as all knew them when they last shared them.
  const Pieces& pieces(const std::string& kind) const;
  /// Collective: learns of what the others have added.
  void share(const std::string& kind);
  /// Pieces are not complete after all, whoever has told of them.
  void forget(const std::string& kind, const std::vector<std::int64_t>& numbers);
  /// Takes away the journals beside the result's.
  void remove();

 private:
  void take_in_others(const std::string& path, const FirstLines& first_lines);

  const gas::Team* team_;
  journal::Journal* of_result_;
  std::optional<journal::Journal> own_;
  std::map<std::string, Pieces> known_;
};

}  // namespace penstock::fft
