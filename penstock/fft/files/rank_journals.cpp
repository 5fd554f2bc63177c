#include "penstock/fft/files/rank_journals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "penstock/base/base.hpp"

namespace penstock::fft {
namespace {

namespace fs = std::filesystem;

std::string path_of(const std::string& path, int rank) {
  return fmt::format("{}.{}", path, rank);
}

bool tells_of(const journal::Journal& journal, const RankJournals::FirstLines& first_lines) {
  return journal.has_begun() &&
         std::ranges::all_of(first_lines, [&](const auto& fact) { return journal.fact(fact.first) == fact.second; });
}

}  // namespace

RankJournals::RankJournals(const gas::Team& team, journal::Journal* of_result, const std::string& path,
                           const FirstLines& first_lines, bool goes_on)
    : team_(&team), of_result_(of_result) {
  team.together([&] {
    if (of_result_ != nullptr) {
      take_in_others(path, goes_on ? first_lines : FirstLines());
      return;
    }
    own_.emplace(path_of(path, team.rank()));
    if (!goes_on || !tells_of(*own_, first_lines)) {
      own_->begin(first_lines);
    }
  });
}

/// Of ranks that this run does not have; without first_lines they are removed alone. From the last one on, so that a
/// kill leaves no gap before one that is still there.
void RankJournals::take_in_others(const std::string& path, const FirstLines& first_lines) {
  int ranks = team_->size();
  while (fs::exists(path_of(path, ranks))) {
    ++ranks;
  }
  for (int rank = ranks - 1; rank >= team_->size(); --rank) {
    journal::Journal other(path_of(path, rank));
    if (!first_lines.empty() && tells_of(other, first_lines)) {
      for (const std::string& kind : other.kinds()) {
        for (const auto& [number, sum] : other.pieces(kind)) {
          of_result_->add(kind, number, {&sum, 1});
        }
      }
    }
    other.remove();
  }
}

const RankJournals::Pieces& RankJournals::pieces(const std::string& kind) const {
  static const Pieces none;
  const auto found = known_.find(kind);
  return found == known_.end() ? none : found->second;
}

void RankJournals::share(const std::string& kind) {
  struct Entry {
    std::int64_t number = -1;
    std::uint64_t sum = 0;
  };
  constexpr std::size_t entries_at_once = 256;
  using Entries = std::array<Entry, entries_at_once>;
  const Pieces& added = mine().pieces(kind);
  Pieces all = added;
  auto next = added.begin();
  const std::size_t rounds = team_->largest(divide_up(added.size(), entries_at_once));
  for (std::size_t round = 0; team_->size() > 1 && round < rounds; ++round) {
    Entries entries;
    for (auto entry = entries.begin(); entry != entries.end() && next != added.end(); ++entry, ++next) {
      *entry = {next->first, next->second};
    }
    for (const Entries& of_rank : team_->all_gather(entries)) {
      for (const Entry& entry : of_rank) {
        if (entry.number >= 0) {
          all.insert_or_assign(entry.number, entry.sum);
        }
      }
    }
  }
  known_[kind] = std::move(all);
}

void RankJournals::forget(const std::string& kind, const std::vector<std::int64_t>& numbers) {
  for (const std::int64_t number : numbers) {
    if (mine().pieces(kind).contains(number)) {
      mine().forget(kind, number);
    }
    known_[kind].erase(number);
  }
}

void RankJournals::remove() {
  if (own_) {
    own_->remove();
  }
}

}  // namespace penstock::fft
