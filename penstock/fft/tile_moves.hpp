// Connects a stage's tiles with the places that they are read from and written to: by the addresses of their pencils,
// or by copies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/fft/flows.hpp"
#include "penstock/fft/schedule.hpp"
#include "penstock/layout/layout.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::fft {

/// Where a plan's copies come from: each is compiled once, however many tiles make it.
struct TileMovers {
  mover::Cache cache{4096};
  mover::Code code;

  mover::Mover compile(const layout::Layout& source, const layout::Layout& destination, mover::Hint hint) {
    return cache.compile(source, destination, hint, code);
  }
};

/// Adds to `firsts` where sections of a stage begin so that each lies in one message of the block, or beside it.
void add_firsts(std::vector<std::int64_t>& firsts, const Stage& stage, const Block& block);

/// Sections of a stage's outer range that begin at its begin and at `firsts` (in any order, repeated or not), without
/// moves yet.
std::vector<Section> make_sections(const Stage& stage, std::vector<std::int64_t> firsts);

/// The groups of the stage's sink, of `planes` outer indices each (0: all), and its sections' numbers of them.
std::vector<MessageGroup> make_groups(Stage& stage, std::int64_t planes);

/// Connects `end`, one of the stage's, whose sections are made, with the blocks that its tiles lie in: by stretches,
/// where the stage's transform takes pencils anywhere and the blocks have those of each tile at one stride; else by
/// copies.
void connect(const Stage& stage, End& end, std::span<const Flow> flows, mover::Hint hint, TileMovers& movers);

}  // namespace penstock::fft
