// Exchanges of ghost cells: the points of other ranks around each rank's part of a field. Included by fft.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "penstock/fft/options.hpp"

#pragma GCC visibility push(default)

namespace penstock::gas {
class Team;
}

namespace penstock::fft {

/// The options of a halo. They must be the same on every rank, except the box.
struct HaloOptions {
  Extents size{};  ///< nx, ny, nz: points of the field
  /// This rank's points and the order of their array. The boxes of all ranks hold every point once; a box may be empty.
  Box box{};
  std::array<int, 3> order{2, 1, 0};
  /// The width of the halo in x, y and z: below a box's first index and above its last one, each at most `size`.
  Extents below{1, 1, 1};
  Extents above{1, 1, 1};
  std::array<bool, 3> is_periodic{true, true, true};  ///< else cells beyond the field are left as they are
  bool has_corners = true;        ///< cells beyond several faces at once too; a stencil of a cross needs none
  std::size_t element_bytes = 8;  ///< of a point: 1 or more
};

/// The halos of all ranks of a team, filled as often as wanted.
///
/// Each rank has an array of its box and the halo around it. A call packs the points that others need into their
/// memory, or into messages to other nodes, and unpacks what others have written. Movable, not copyable. All members
/// are collective over the team unless their comment says "Local". Errors: as of Plan.
class Halo {
 public:
  /// Collective. The team is used by the constructor only; the halo communicates over a team of its own. Throws Error
  /// on every rank where the options cannot be used or differ between ranks.
  Halo(const gas::Team& team, const HaloOptions& options);
  ~Halo();
  Halo(Halo&&) noexcept;
  Halo& operator=(Halo&&) noexcept;

  /// The array of this rank: `box` with the halo around it, whose lowest indices may be below 0. `position` is that of
  /// any cell, also of the halo. Local.
  const Distribution& array() const noexcept;
  /// The box alone as it lies in the array, for a plan that transforms it there: from element
  /// `array().position(x, y, z)` of its first point on. Local.
  const Distribution& inside() const noexcept;

  /// Fills the halo: `start`, then `finish`. The array has `array().elements()` elements.
  void exchange(std::span<std::byte> array);
  template <class Element>
  void exchange(std::span<Element> array) {
    exchange(std::as_writable_bytes(array));
  }

  /// Sends what others need. The points of the box may be read meanwhile, and written once `start` has returned; the
  /// halo may be neither.
  void start(std::span<std::byte> array);
  /// Waits for what others have sent, and fills the halo of the array that `start` was given.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::fft

#pragma GCC visibility pop
