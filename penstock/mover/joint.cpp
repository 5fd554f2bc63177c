#include "penstock/mover/joint.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace penstock::mover {
namespace {

using layout::Layout;
using layout::Level;

/// A layout seen from the inside: `unit` bytes that are not divided, then its loops, innermost first.
struct Nest {
  std::int64_t unit;
  std::vector<Level> loops;
};

Nest nest_of(const Layout& layout) {
  Nest nest{1, {}};
  if (layout.runs().size() == 1) {
    nest.loops.push_back({layout.runs()[0].bytes, 1});
  } else {
    nest.unit = 0;
    for (const layout::Run& run : layout.runs()) {
      nest.unit += run.bytes;
    }
  }
  nest.loops.insert(nest.loops.end(), layout.levels().rbegin(), layout.levels().rend());
  return nest;
}

/// The loops outside the first `bytes` bytes, innermost first; none where a loop would have to be cut in a fraction.
std::optional<std::vector<Level>> loops_outside(const Nest& nest, std::int64_t bytes) {
  if (bytes % nest.unit != 0) {
    return std::nullopt;
  }
  std::int64_t inside = bytes / nest.unit;
  std::vector<Level> outside;
  for (const Level& loop : nest.loops) {
    if (inside % loop.extent == 0) {
      inside /= loop.extent;
    } else if (loop.extent % inside == 0) {
      outside.push_back({loop.extent / inside, loop.stride * inside});
      inside = 1;
    } else {
      return std::nullopt;
    }
  }
  return outside;
}

/// Both nests as one outside the first `bytes` bytes, each loop split where the other one turns.
std::optional<std::vector<JointLevel>> join_outside(const Nest& source, const Nest& destination, std::int64_t bytes) {
  auto from = loops_outside(source, bytes);
  auto to = loops_outside(destination, bytes);
  if (!from || !to) {
    return std::nullopt;
  }
  std::vector<JointLevel> joint;
  auto a = from->begin();
  auto b = to->begin();
  while (a != from->end() && b != to->end()) {
    const std::int64_t extent = std::gcd(a->extent, b->extent);
    if (extent != std::min(a->extent, b->extent)) {
      return std::nullopt;
    }
    joint.push_back({extent, a->stride, b->stride});
    for (Level* loop : {&*a, &*b}) {
      loop->extent /= extent;
      if (loop->extent > 1) {
        loop->stride *= extent;
      }
    }
    a += a->extent == 1 ? 1 : 0;
    b += b->extent == 1 ? 1 : 0;
  }
  return joint;
}

/// The counts of bytes after which both nests may be cut, ascending; the last is all bytes.
std::vector<std::int64_t> common_cuts(const Nest& source, const Nest& destination, std::int64_t bytes) {
  const auto cuts_of = [](const Nest& nest) {
    std::vector<std::int64_t> cuts{nest.unit};
    for (const Level& loop : nest.loops) {
      cuts.push_back(cuts.back() * loop.extent);
    }
    return cuts;
  };
  std::vector<std::int64_t> common;
  for (const std::int64_t a : cuts_of(source)) {
    for (const std::int64_t b : cuts_of(destination)) {
      std::int64_t both = 0;
      if (!__builtin_mul_overflow(a / std::gcd(a, b), b, &both) && bytes % both == 0) {
        common.push_back(both);
      }
    }
  }
  std::ranges::sort(common);
  common.erase(std::unique(common.begin(), common.end()), common.end());
  return common;
}

/// The pieces of the first `bytes` bytes; none where there are too many.
std::vector<Piece> list_pieces(const Layout& source, const Layout& destination, std::int64_t bytes) {
  std::vector<Piece> pieces;
  bool is_too_long = false;
  for_each_piece(source, destination, bytes, [&](std::int64_t from, std::int64_t to, std::int64_t piece_bytes) {
    if (!pieces.empty()) {
      Piece& last = pieces.back();
      if (last.source_offset + last.bytes == from && last.destination_offset + last.bytes == to) {
        last.bytes += piece_bytes;
        return true;
      }
    }
    is_too_long = static_cast<std::int64_t>(pieces.size()) == max_pieces;
    if (!is_too_long) {
      pieces.push_back({from, to, piece_bytes});
    }
    return !is_too_long;
  });
  return is_too_long ? std::vector<Piece>{} : pieces;
}

/// Runs a loop the other way round where it descends in the destination.
void turn_upwards(Joint& joint) {
  for (JointLevel& level : joint.levels) {
    if (level.destination_stride < 0) {
      for (Piece& piece : joint.pieces) {
        piece.source_offset += (level.extent - 1) * level.source_stride;
        piece.destination_offset += (level.extent - 1) * level.destination_stride;
      }
      level.source_stride = -level.source_stride;
      level.destination_stride = -level.destination_stride;
    }
  }
}

/// Whether `outer` goes on where `inner` ends, in the source and in the destination.
bool continues(const JointLevel& inner, const JointLevel& outer) {
  return Level{inner.extent, inner.source_stride}.ends_at(outer.source_stride) &&
         Level{inner.extent, inner.destination_stride}.ends_at(outer.destination_stride);
}

/// Joins one pair of loops, or a loop and the piece, and says whether there was one.
bool join_once(Joint& joint) {
  auto& levels = joint.levels;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto here = levels.begin() + static_cast<std::ptrdiff_t>(i);
    if (joint.pieces.size() == 1 && continues({joint.pieces[0].bytes, 1, 1}, levels[i])) {
      joint.pieces[0].bytes *= levels[i].extent;
      levels.erase(here);
      return true;
    }
    for (std::size_t j = 0; j < levels.size(); ++j) {
      if (j != i && continues(levels[j], levels[i])) {
        levels[j].extent *= levels[i].extent;
        levels.erase(here);
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Joint refine(const Layout& source, const Layout& destination) {
  if (!source.parts().empty() || !destination.parts().empty()) {
    return {{}, list_pieces(source, destination, source.bytes())};
  }
  const Nest from = nest_of(source);
  const Nest to = nest_of(destination);
  for (const std::int64_t bytes : common_cuts(from, to, source.bytes())) {
    if (auto levels = join_outside(from, to, bytes)) {
      return {*std::move(levels), list_pieces(source, destination, bytes)};
    }
  }
  return {{}, list_pieces(source, destination, source.bytes())};  // not reached: all bytes are the last common cut
}

void simplify(Joint& joint) {
  std::erase_if(joint.levels, [](const JointLevel& level) { return level.extent == 1; });
  turn_upwards(joint);
  while (join_once(joint)) {
  }
}

}  // namespace penstock::mover
