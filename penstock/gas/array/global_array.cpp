// Global arrays, whatever their type: a box is cut into what each owner has of it, and each of these goes as one
// transfer between two layouts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/layout/layout.hpp"

namespace penstock::gas {
namespace {

using layout::Layout;

/// What one coordinate of the grid owns of a dimension of a box: `count` elements from `position` on of what it has.
struct Share {
  int owner;
  std::int64_t position;
  std::int64_t count;
};

std::vector<Share> shares_of(const BlockCyclic& dimension, std::int64_t first, std::int64_t extent) {
  std::vector<Share> shares;
  for (int owner = 0; owner < dimension.owners(); ++owner) {
    const std::int64_t position = dimension.count_below(owner, first);
    const std::int64_t count = dimension.count_below(owner, first + extent) - position;
    if (count > 0) {
      shares.push_back({owner, position, count});
    }
  }
  return shares;
}

/// Where a share lies in a box that begins at index `first`, `stride` bytes between neighbours: the end of a block,
/// whole blocks, the beginning of a block, each of `inner`.
Layout in_box(const BlockCyclic& dimension, const Share& share, std::int64_t first, std::int64_t stride,
              const Layout& inner) {
  const std::int64_t block = dimension.block();
  std::vector<Layout> parts;
  std::int64_t done = 0;
  const auto add = [&](std::int64_t blocks, std::int64_t of_each) {
    if (blocks > 0 && of_each > 0) {
      const std::int64_t at = dimension.index(share.owner, share.position + done) - first;
      const std::int64_t distance = blocks > 1 ? dimension.cycle() * stride : 0;
      parts.push_back(
          Layout::strided(blocks, distance, Layout::strided(of_each, stride, inner)).displaced(at * stride));
      done += blocks * of_each;
    }
  };
  add(1, std::min(share.count, (block - share.position % block) % block));
  add((share.count - done) / block, block);
  add(1, share.count - done);
  return Layout::sequence(std::move(parts));
}

/// What one rank owns of a box: in its part of the segment, and in the memory of who asked.
struct OwnedPart {
  int rank = 0;
  Layout remote;
  Layout local;
};

OwnedPart make_owned_part(std::span<const BlockCyclic> dimensions, std::span<const Share> shares,
                          std::span<const std::int64_t> first, std::span<const std::int64_t> strides,
                          std::int64_t element_bytes) {
  OwnedPart piece;
  piece.local = Layout::contiguous(element_bytes);
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> extent;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    piece.rank = piece.rank * dimensions[d].owners() + shares[d].owner;
    shape.push_back(dimensions[d].count(shares[d].owner));
    start.push_back(shares[d].position);
    extent.push_back(shares[d].count);
  }
  piece.remote = Layout::subarray(shape, start, extent, element_bytes);
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    piece.local = in_box(dimensions[d], shares[d], first[d], strides[d] * element_bytes, piece.local);
  }
  return piece;
}

/// The strides of a dense box where none are given.
std::vector<std::int64_t> strides_of(const ArrayStorage::StridedBox& part, std::int64_t element_bytes) {
  std::vector<std::int64_t> strides(part.strides.begin(), part.strides.end());
  if (strides.empty()) {
    strides.resize(part.extents.size());
    std::int64_t stride = 1;
    for (std::size_t d = strides.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= part.extents[d];
    }
  }
  for (std::size_t d = 0; d < strides.size(); ++d) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(strides[d], element_bytes, &reach) ||
        __builtin_mul_overflow(reach, part.extents[d], &reach)) {
      throw Error(fmt::format("a box of {} elements with strides of {}: more than an address space",
                              fmt::join(part.extents, " x "), fmt::join(part.strides, " x ")));
    }
  }
  return strides;
}

/// A piece for each rank that owns some of the part.
std::vector<OwnedPart> cut(const Distribution& distribution, const ArrayStorage::StridedBox& part,
                           std::size_t element_bytes) {
  distribution.check_box(part.first, part.extents);
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  const std::vector<std::int64_t> strides = strides_of(part, bytes);
  const std::span<const BlockCyclic> dimensions = distribution.dimensions();
  std::vector<std::vector<Share>> shares;
  std::size_t count = 1;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    shares.push_back(shares_of(dimensions[d], part.first[d], part.extents[d]));
    count *= shares.back().size();
  }
  std::vector<OwnedPart> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    // The digits of i are the numbers of the shares.
    std::vector<Share> chosen(dimensions.size());
    std::size_t rest = i;
    for (std::size_t d = dimensions.size(); d-- > 0;) {
      chosen[d] = shares[d][rest % shares[d].size()];
      rest /= shares[d].size();
    }
    pieces.push_back(make_owned_part(dimensions, chosen, part.first, strides, bytes));
  }
  return pieces;
}

/// Collective: the same distribution on all ranks, or Error on all.
Distribution agree_on_distribution(const Team& team, std::span<const std::int64_t> extents,
                                   std::span<const std::int64_t> blocks, std::span<const int> grid,
                                   std::size_t element_bytes) {
  std::optional<Distribution> distribution;
  const std::string failure =
      failure_of(team.rank(), [&] { distribution.emplace(extents, blocks, grid, team.size()); });
  team.agree_on("global array",
                distribution ? fmt::format("{}, {} bytes each", distribution->describe(), element_bytes) : failure);
  team.agree(failure);
  return std::move(*distribution);
}

/// What this rank takes; where that cannot be counted, more than any segment can have.
std::size_t part_bytes(const Distribution& distribution, int rank, std::size_t element_bytes) {
  std::size_t bytes = element_bytes;
  for (const std::int64_t extent : distribution.extents_of(rank)) {
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes)) {
      return std::numeric_limits<std::size_t>::max();
    }
  }
  return bytes;
}

}  // namespace

ArrayStorage::ArrayStorage(const Team& team, std::span<const std::int64_t> extents,
                           std::span<const std::int64_t> blocks, std::span<const int> grid, std::size_t element_bytes,
                           std::size_t signals)
    : element_bytes_(element_bytes),
      rank_(team.rank()),
      distribution_(agree_on_distribution(team, extents, blocks, grid, element_bytes)),
      segment_(team, part_bytes(distribution_, rank_, element_bytes), signals) {}

void ArrayStorage::check_count(std::span<const std::int64_t> extents, std::size_t elements) {
  std::int64_t count = 1;
  bool fits = true;
  for (const std::int64_t extent : extents) {
    fits = fits && extent >= 0 && !__builtin_mul_overflow(count, extent, &count);
  }
  if (!fits || static_cast<std::size_t>(count) != elements) {
    throw Error(fmt::format("a box of {} elements and {} elements for it here: they must be equal",
                            fmt::join(extents, " x "), elements));
  }
}

Put ArrayStorage::start_put(const StridedBox& part, const std::byte* data) {
  std::vector<Event> sources;
  std::vector<Event> remotes;
  for (const OwnedPart& piece : cut(distribution_, part, element_bytes_)) {
    Put put = segment_.start_put({piece.rank, 0}, piece.remote, data, piece.local);
    sources.push_back(std::move(put.source));
    remotes.push_back(std::move(put.remote));
  }
  return {.source = all_of(sources), .remote = all_of(remotes)};
}

Event ArrayStorage::start_get(const StridedBox& part, std::byte* data) {
  std::vector<Event> events;
  for (const OwnedPart& piece : cut(distribution_, part, element_bytes_)) {
    events.push_back(segment_.start_get({piece.rank, 0}, piece.remote, data, piece.local));
  }
  return all_of(events);
}

}  // namespace penstock::gas
