#include "penstock/fft/halo.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/direction_index.hpp"
#include "penstock/fft/parts.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/layout/layout.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::fft {
namespace {

constexpr std::int64_t message_alignment = 128;  // so that neighbours' stores never share cache lines

/// Calls `visit(steps)` for each combination of -1, 0 and 1 in three directions.
template <class Visit>
void for_each_step(const Visit& visit) {
  for (const std::int64_t z : {-1, 0, 1}) {
    for (const std::int64_t y : {-1, 0, 1}) {
      for (const std::int64_t x : {-1, 0, 1}) {
        visit(Extents{x, y, z});
      }
    }
  }
}

/// The box with its halo; an empty box has none.
Box with_halo(const HaloOptions& options, Box box) {
  for (std::size_t d = 0; d < 3 && box.count() > 0; ++d) {
    box.lower[d] -= options.below[d];
    box.extent[d] += options.below[d] + options.above[d];
  }
  return box;
}

/// The cells of a box's halo that lie beyond the faces that `steps` tells: one of the 26 around it.
Box cells_beyond(const HaloOptions& options, Box box, const Extents& steps) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (steps[d] < 0) {
      box.lower[d] -= options.below[d];
      box.extent[d] = options.below[d];
    } else if (steps[d] > 0) {
      box.lower[d] += box.extent[d];
      box.extent[d] = options.above[d];
    }
  }
  return box;
}

Box displaced(Box box, const Extents& steps, const Extents& size) {
  for (std::size_t d = 0; d < 3; ++d) {
    box.lower[d] += steps[d] * size[d];
  }
  return box;
}

/// Calls `visit(cells, steps)` for all cells of the halo of `receiver` that `sender` has, in an order that both ranks
/// follow: `cells` as the receiver numbers them, `steps` periods away from the sender's.
template <class Visit>
void for_each_piece(const HaloOptions& options, const Box& receiver, const Box& sender, const Visit& visit) {
  if (receiver.count() == 0) {
    return;
  }
  for_each_step([&](const Extents& periods) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (periods[d] != 0 && !options.is_periodic[d]) {
        return;
      }
    }
    const Box image = displaced(sender, periods, options.size);
    if (intersect(with_halo(options, receiver), image).count() == 0) {
      return;
    }
    for_each_step([&](const Extents& steps) {
      const std::ptrdiff_t faces = 3 - std::ranges::count(steps, 0);
      if (faces == 0 || (faces > 1 && !options.has_corners)) {
        return;
      }
      const Box cells = intersect(cells_beyond(options, receiver, steps), image);
      if (cells.count() > 0) {
        visit(cells, periods);
      }
    });
  });
}

std::int64_t bytes_between(const HaloOptions& options, const Box& receiver, const Box& sender) {
  std::int64_t bytes = 0;
  for_each_piece(options, receiver, sender, [&](const Box& cells, const Extents&) {
    bytes += cells.count() * static_cast<std::int64_t>(options.element_bytes);
  });
  return bytes;
}

/// What is wrong with the options on one rank, but for the boxes; or nothing.
std::string find_mistake(const HaloOptions& options) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (options.size[d] < 1) {
      return fmt::format("a size of {}: each direction needs at least 1 point", fmt::join(options.size, "x"));
    }
    for (const std::int64_t width : {options.below[d], options.above[d]}) {
      if (width < 0 || width > options.size[d]) {
        return fmt::format("a halo of width {} around a field of {} points: give 0 to {}", width, options.size[d],
                           options.size[d]);
      }
    }
  }
  std::array<int, 3> order = options.order;
  std::ranges::sort(order);
  if (order != std::array{0, 1, 2}) {
    return fmt::format("the order {}: each of 0 (x), 1 (y) and 2 (z) once", fmt::join(options.order, ", "));
  }
  return options.element_bytes == 0 ? "elements of 0 bytes: give 1 or more" : "";
}

}  // namespace

struct Halo::State {
  /// Cells that are copied between the array and a message.
  struct Piece {
    mover::Mover mover;
    std::int64_t in_array = 0;    // bytes from the array's begin
    std::int64_t in_message = 0;  // bytes from the message's
  };

  gas::Team team;
  HaloOptions options;
  Distribution array;
  Distribution inside;
  std::optional<gas::Segment> segment;
  std::optional<gas::Exchange> exchange;
  std::vector<std::vector<Piece>> outgoing;  // by message
  std::vector<std::vector<Piece>> incoming;
  std::vector<std::int64_t> incoming_offsets;  // of the messages in the segment
  std::span<std::byte> under_way;

  State(const gas::Team& user_team, const HaloOptions& user_options)
      : team(user_team.split(0, user_team.rank())), options(user_options) {}

  static std::unique_ptr<State> make(const gas::Team& user_team, const HaloOptions& options);
  void connect(const std::vector<Box>& boxes);
  Piece piece_of(const Box& cells, std::int64_t in_message, bool is_packed) const;
};

/// A copy between cells, as this rank numbers them, and a message.
Halo::State::Piece Halo::State::piece_of(const Box& cells, std::int64_t in_message, bool is_packed) const {
  const auto bytes = static_cast<std::int64_t>(options.element_bytes);
  const Extents strides = array.strides();
  std::vector<layout::Level> levels;
  for (const int d : options.order) {
    levels.push_back({cells.extent[at(d)], strides[at(d)] * bytes});
  }
  const auto in_array = layout::Layout::nest(0, levels, bytes);
  const auto packed = layout::Layout::contiguous(cells.count() * bytes);
  return {.mover = is_packed ? mover::Mover::compile(in_array, packed) : mover::Mover::compile(packed, in_array),
          .in_array = array.position(cells.lower[0], cells.lower[1], cells.lower[2]) * bytes,
          .in_message = in_message};
}

/// The messages between the boxes: one from each rank to each that wants cells of it.
void Halo::State::connect(const std::vector<Box>& boxes) {
  const auto rank = static_cast<std::size_t>(team.rank());
  const Box& mine = boxes[rank];
  const auto bytes = static_cast<std::int64_t>(options.element_bytes);
  std::vector<gas::Incoming> received;
  std::int64_t received_bytes = 0;
  team.together([&] {
    for (std::size_t sender = 0; sender < boxes.size(); ++sender) {
      std::vector<Piece> pieces;
      std::int64_t in_message = 0;
      for_each_piece(options, mine, boxes[sender], [&](const Box& cells, const Extents&) {
        pieces.push_back(piece_of(cells, in_message, false));
        in_message += cells.count() * bytes;
      });
      if (in_message > 0) {
        received.push_back({.peer = static_cast<int>(sender),
                            .offset = static_cast<std::size_t>(received_bytes),
                            .bytes = static_cast<std::size_t>(in_message)});
        incoming.push_back(std::move(pieces));
        incoming_offsets.push_back(received_bytes);
        received_bytes += round_up(in_message, message_alignment);
      }
    }
  });
  std::vector<gas::Outgoing> sent;
  team.together([&] {
    for (std::size_t i = 1; i <= boxes.size(); ++i) {  // not all to the same one first
      const std::size_t receiver = (rank + i) % boxes.size();
      gas::Outgoing message{.peer = static_cast<int>(receiver), .offset = 0, .bytes = 0, .index = 0};
      std::vector<Piece> pieces;
      for_each_piece(options, boxes[receiver], mine, [&](const Box& cells, const Extents& periods) {
        const Extents back{-periods[0], -periods[1], -periods[2]};
        pieces.push_back(
            piece_of(displaced(cells, back, options.size), static_cast<std::int64_t>(message.bytes), true));
        message.bytes += static_cast<std::size_t>(cells.count() * bytes);
      });
      if (pieces.empty()) {
        continue;
      }
      for (std::size_t before = 0; before < rank; ++before) {
        const std::int64_t other = bytes_between(options, boxes[receiver], boxes[before]);
        message.offset += static_cast<std::size_t>(round_up(other, message_alignment));
        message.index += other > 0 ? 1 : 0;
      }
      sent.push_back(message);
      outgoing.push_back(std::move(pieces));
    }
  });
  team.require_memory("a halo", static_cast<std::uint64_t>(received_bytes) + gas::Exchange::buffer_bytes(team, sent),
                      0);
  segment.emplace(team, static_cast<std::size_t>(received_bytes), 0);
  exchange.emplace(team, *segment, std::move(sent), std::move(received));
}

std::unique_ptr<Halo::State> Halo::State::make(const gas::Team& user_team, const HaloOptions& options) {
  user_team.agree(find_mistake(options));
  user_team.agree_on(
      "halo", fmt::format("size {}, order {}, below {}, above {}, periodic {}, corners {}, elements of {} bytes",
                          fmt::join(options.size, "x"), fmt::join(options.order, ","), fmt::join(options.below, ","),
                          fmt::join(options.above, ","), fmt::join(options.is_periodic, ","), options.has_corners,
                          options.element_bytes));
  const std::vector<Box> boxes = user_team.all_gather(options.box);
  user_team.agree(find_tiling_mistake(boxes, options.size, "field"));
  auto state = std::make_unique<State>(user_team, options);
  state->array = {.box = with_halo(options, options.box), .order = options.order};
  const Extents strides = state->array.strides();
  state->inside = {.box = options.box,
                   .order = options.order,
                   .row_pitch = strides[at(options.order[1])],
                   .plane_pitch = strides[at(options.order[0])]};
  state->team.run_or_revoke([&] { state->connect(boxes); });
  return state;
}

Halo::Halo(const gas::Team& team, const HaloOptions& options)
    : state_(team.run_or_revoke([&] { return State::make(team, options); })) {}
Halo::~Halo() = default;
Halo::Halo(Halo&&) noexcept = default;
Halo& Halo::operator=(Halo&&) noexcept = default;

const Distribution& Halo::array() const noexcept {
  return state_->array;
}

const Distribution& Halo::inside() const noexcept {
  return state_->inside;
}

void Halo::exchange(std::span<std::byte> array) {
  start(array);
  finish();
}

void Halo::start(std::span<std::byte> array) {
  State& state = *state_;
  state.team.run_or_revoke([&] {
    state.team.check_revoked();
    const std::size_t wanted = static_cast<std::size_t>(state.array.elements()) * state.options.element_bytes;
    if (array.size() < wanted) {
      throw Error(
          fmt::format("an array of {} bytes is too short: this rank's box with its halo has {}", array.size(), wanted));
    }
    if (state.under_way.data() != nullptr) {
      throw Error("the halo has an exchange under way: finish it first");
    }
    state.under_way = array.first(wanted);
    state.exchange->open();
    for (std::size_t i = 0; i < state.outgoing.size(); ++i) {
      std::byte* const message = state.exchange->destination(i);
      for (const State::Piece& piece : state.outgoing[i]) {
        piece.mover(array.data() + piece.in_array, message + piece.in_message);
      }
      mover::finish_streaming();
      state.exchange->send(i);
    }
  });
}

void Halo::finish() {
  State& state = *state_;
  state.team.run_or_revoke([&] {
    state.team.check_revoked();
    if (state.under_way.data() == nullptr && state.array.elements() > 0) {
      throw Error("the halo has no exchange under way: start one first");
    }
    for (std::size_t i = 0; i < state.incoming.size(); ++i) {
      state.exchange->wait(i);
      const std::byte* const message = state.segment->local().data() + state.incoming_offsets[i];
      for (const State::Piece& piece : state.incoming[i]) {
        piece.mover(message + piece.in_message, state.under_way.data() + piece.in_array);
      }
    }
    state.exchange->finish();
    state.under_way = {};
  });
}

}  // namespace penstock::fft
