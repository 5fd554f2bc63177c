#include "penstock/fft/files/passes.hpp"

#include <fmt/format.h>

namespace penstock::fft {

using percolate::Transfer;

std::optional<percolate::Parcel> PassProgram::next() {
  if (pending_.empty()) {
    if (drawn_ == wanted_.size()) {
      return std::nullopt;
    }
    push(wanted_[drawn_], drawn_ % pieces_.places());
    ++drawn_;
  }
  percolate::Parcel parcel = std::move(pending_.front());
  pending_.pop_front();
  return parcel;
}

std::string PassProgram::label(std::int64_t piece, std::string_view what) const {
  return fmt::format("{} {}{}", pieces_.name(), piece, what);
}

std::vector<percolate::Arrival> PassProgram::field_arrivals(std::int64_t piece, std::size_t place) const {
  std::vector<percolate::Arrival> arrivals;
  for (const Transfer& transfer : pieces_.field_transfers(Transfer::Kind::read, piece, place)) {
    arrivals.push_back({.slot = pieces_.field_slot(place), .transfer = transfer});
  }
  return arrivals;
}

FirstPass::FirstPass(const PassSetting& setting, Pieces& pieces, std::vector<std::int64_t> wanted,
                     percolate::Slots& slots)
    : PassProgram(setting, pieces, std::move(wanted)), told_(slots.token("journal")), sums_(pieces.places()) {}

void FirstPass::push(std::int64_t piece, std::size_t place) {
  const percolate::Slot bricks = pieces_.bricks_slot(place);
  pending_.push_back({.label = label(piece, ""),
                      .inward = field_arrivals(piece, place),
                      .changes = {pieces_.field_slot(place), bricks},
                      .work = [this, piece, place] {
                        pieces_.to_bricks(piece, place);
                        sums_[place] = pieces_.brick_sums(piece, place);
                      }});
  // Parcels of their own: the other slot of the place is free while the bricks are on their way.
  pending_.push_back({.label = label(piece, " in bricks"),
                      .changes = {bricks},
                      .outward = {pieces_.scratch_transfer(Transfer::Kind::write, piece, place)}});
  pending_.push_back(
      {.label = label(piece, " is complete"), .uses = {bricks}, .changes = {told_}, .work = [this, piece, place] {
         setting_.journals->mine().add(brick_piece, pieces_.brick_number(piece, 0), sums_[place]);
         *setting_.done_bytes += pieces_.bricks_bytes(piece);
       }});
}

SecondPass::SecondPass(const PassSetting& setting, Pieces& pieces, std::vector<std::int64_t> wanted,
                       percolate::Slots& slots)
    : PassProgram(setting, pieces, std::move(wanted)),
      told_(slots.token("journal")),
      made_(pieces.places()),
      bricks_(setting.journals->pieces(brick_piece)),
      is_torn_(static_cast<std::size_t>(pieces.others())) {}

/// Compares the bricks with the journal, and keeps in mind those that are not what was written.
bool SecondPass::is_whole(std::int64_t piece, std::size_t place) {
  const std::vector<std::uint64_t> sums = pieces_.brick_sums(piece, place);
  bool is_whole = true;
  for (std::int64_t other = 0; other < pieces_.others(); ++other) {
    const auto i = static_cast<std::size_t>(other);
    const auto told = bricks_.find(pieces_.brick_number(piece, other));
    if (told == bricks_.end() || told->second != sums[i]) {
      const std::lock_guard lock(mutex_);
      is_torn_[i] = true;
      ++torn_bricks_;
      is_whole = false;
    }
  }
  if (!is_whole) {
    const std::lock_guard lock(mutex_);
    torn_.push_back(piece);
  }
  return is_whole;
}

void SecondPass::push(std::int64_t piece, std::size_t place) {
  const percolate::Slot bricks = pieces_.bricks_slot(place);
  const percolate::Slot field = pieces_.field_slot(place);
  pending_.push_back(
      {.label = label(piece, ""),
       .inward = {{.slot = bricks, .transfer = pieces_.scratch_transfer(Transfer::Kind::read, piece, place)}},
       .changes = {bricks, field},
       .work = [this, piece, place] {
         Made& made = made_[place];
         made.is_whole = is_whole(piece, place);
         pieces_.from_bricks(piece, place);
         made.sum = pieces_.field_sum(piece, place);
       }});
  pending_.push_back({.label = label(piece, ""),
                      .changes = {field},
                      .outward = pieces_.field_transfers(Transfer::Kind::write, piece, place)});
  pending_.push_back(
      {.label = label(piece, " is complete"), .uses = {field}, .changes = {told_}, .work = [this, piece, place] {
         if (made_[place].is_whole) {
           setting_.journals->mine().add(std::string(pieces_.name()), piece, {&made_[place].sum, 1});
         }
         *setting_.done_bytes += pieces_.bricks_bytes(piece);
       }});
}

std::vector<std::int64_t> SecondPass::torn_others() const {
  std::vector<std::int64_t> others;
  for (std::size_t other = 0; other < is_torn_.size(); ++other) {
    if (is_torn_[other]) {
      others.push_back(static_cast<std::int64_t>(other));
    }
  }
  return others;
}

void OutputCheck::push(std::int64_t piece, std::size_t place) {
  pending_.push_back(
      {.label = label(piece, " is looked at"), .inward = field_arrivals(piece, place), .work = [this, piece, place] {
         const std::uint64_t told = setting_.journals->pieces(std::string(pieces_.name())).at(piece);
         if (pieces_.field_sum(piece, place) != told) {
           const std::lock_guard lock(mutex_);
           torn_.push_back(piece);
         }
       }});
}

}  // namespace penstock::fft
