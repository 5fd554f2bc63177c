#include "penstock/fft/schedule.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/fft/flows.hpp"

namespace penstock::fft {
namespace {

constexpr int x = 0;
constexpr int y = 1;
constexpr int z = 2;

// The user's arrays: x-pencils with x contiguous, z-pencils with z contiguous.
constexpr std::array<int, 3> x_pencil_order{z, y, x};
constexpr std::array<int, 3> z_pencil_order{x, y, z};

std::size_t at(int direction) {
  return static_cast<std::size_t>(direction);
}

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// From row to row of a tile: whole cache lines, and one more, so that rows of a power of two do not share cache sets.
std::int64_t tile_pitch(std::int64_t row_bytes) {
  return round_up(row_bytes, 64) + 64;
}

class Builder {
 public:
  Builder(const Problem& problem, bool is_forward, int rank, int ranks)
      : problem_(problem),
        is_forward_(is_forward),
        rank_(rank),
        ranks_(ranks),
        spectrum_(problem.spectrum_points(), problem.grid),
        space_(problem.options.size, problem.grid) {}

  // Who transposes: every exchange is stored in the order in which its reader walks it, with one exception each way. A
  // sender that has one index of the reader's direction at a time (forward y to z, and to and from x-pencils of the
  // spectrum) leaves the transposition to the reader, whose tile then picks up chunks of several rows.
  Schedule make_forward() {
    if (problem_.is_plane_in_cache) {
      Stage first = stage(z, y, x, RowKind::forward);
      Stage second = stage(z, x, y, RowKind::forward);
      from_user(first, x_pencil_order);
      join(first, second);
      to_exchange(second, {.from = y, .to = z, .order = {x, z, y}});
      add_pass(std::move(first), std::move(second));
    } else {
      Stage first = stage(z, y, x, RowKind::forward);
      from_user(first, x_pencil_order);
      to_exchange(first, {.from = x, .to = y, .order = {z, x, y}});
      add_pass(std::move(first));
      Stage second = stage(z, x, y, RowKind::forward);
      from_exchange(second);
      to_exchange(second, {.from = y, .to = z, .order = {x, z, y}});
      add_pass(std::move(second));
    }
    Stage third = stage(x, y, z, RowKind::forward);
    from_exchange(third);
    if (problem_.options.output == Output::transposed) {
      to_user(third, z_pencil_order);
      add_pass(std::move(third));
    } else {
      to_exchange(third, {.from = z, .to = x, .order = {z, x, y}});
      add_pass(std::move(third));
      Stage last = stage(z, y, x, std::nullopt);
      from_exchange(last);
      to_user(last, x_pencil_order);
      add_pass(std::move(last));
    }
    return std::move(schedule_);
  }

  Schedule make_backward() {
    Stage first = stage(x, y, z, RowKind::backward);
    if (problem_.options.output == Output::transposed) {
      from_user(first, z_pencil_order);
    } else {
      Stage bring = stage(z, y, x, std::nullopt);
      from_user(bring, x_pencil_order);
      to_exchange(bring, {.from = x, .to = z, .order = {x, z, y}});
      add_pass(std::move(bring));
      from_exchange(first);
    }
    to_exchange(first, {.from = z, .to = y, .order = {z, x, y}});
    add_pass(std::move(first));
    Stage second = stage(z, x, y, RowKind::backward);
    from_exchange(second);
    Stage third = stage(z, y, x, RowKind::backward);
    if (problem_.is_plane_in_cache) {
      join(second, third);
      to_user(third, x_pencil_order);
      add_pass(std::move(second), std::move(third));
    } else {
      to_exchange(second, {.from = y, .to = x, .order = {z, y, x}});
      add_pass(std::move(second));
      from_exchange(third);
      to_user(third, x_pencil_order);
      add_pass(std::move(third));
    }
    return std::move(schedule_);
  }

 private:
  /// A stage over this rank's pencils along `along`; no `kind`: it only moves data.
  Stage stage(int outer, int across, int along, std::optional<RowKind> kind) {
    Stage stage;
    stage.outer = outer;
    stage.across = across;
    stage.along = along;
    const Box box = spectrum_.pencil(along, rank_);
    const bool is_real_end = along == x && kind && problem_.options.type == Type::r2c;
    const std::int64_t spectrum_row = box.extent[at(along)] * problem_.complex_bytes();
    const std::int64_t space_row =
        problem_.options.size[at(along)] * (is_real_end ? problem_.real_bytes : problem_.complex_bytes());
    stage.in_pitch_bytes = tile_pitch(is_forward_ && kind ? space_row : spectrum_row);
    stage.out_pitch_bytes = tile_pitch(is_forward_ || !kind ? spectrum_row : space_row);

    // Chunks of 256 bytes are moved at memory speed (measured 2026-11 on Zen 5: 16 double complex as fast as 32 and
    // faster than 4); shorter only where two tiles would not fit into half of the second-level cache.
    const std::int64_t pair_bytes = stage.in_pitch_bytes + stage.out_pitch_bytes;
    const auto cache_bytes = static_cast<std::int64_t>(problem_.options.machine.node.cache_l2_bytes);
    const std::int64_t width =
        std::clamp<std::int64_t>(cache_bytes / 2 / pair_bytes / 4 * 4, 4, 256 / problem_.complex_bytes());

    stage.outer_range = {box.lower[at(outer)], box.extent[at(outer)]};
    const std::int64_t across_end = box.lower[at(across)] + box.extent[at(across)];
    for (std::int64_t lower = box.lower[at(across)]; lower < across_end; lower += width) {
      stage.tiles.push_back({lower, std::min(width, across_end - lower)});
    }
    const std::int64_t rows = stage.tiles.empty() ? 0 : stage.tiles.front().extent;
    if (kind) {
      if (is_real_end) {
        kind = is_forward_ ? RowKind::real_to_complex : RowKind::complex_to_real;
      }
      stage.shape = RowShape{.kind = *kind,
                             .length = problem_.options.size[at(along)],
                             .rows = rows,
                             .in_pitch_bytes = stage.in_pitch_bytes,
                             .out_pitch_bytes = stage.out_pitch_bytes};
    }
    schedule_.tile_bytes = std::max({schedule_.tile_bytes, static_cast<std::uint64_t>(rows * stage.in_pitch_bytes),
                                     static_cast<std::uint64_t>(rows * stage.out_pitch_bytes)});
    return stage;
  }

  void add_pass(Stage stage) { schedule_.passes.push_back({.stages = {std::move(stage)}}); }
  void add_pass(Stage first, Stage second) {
    schedule_.passes.push_back({.stages = {std::move(first), std::move(second)}});
  }

  /// The user's array on this rank at the end of a stage: of real numbers where the stage makes or takes them.
  Block user_block(const Stage& stage, const std::array<int, 3>& order, bool is_source) const {
    const bool is_real = stage.shape && (is_source ? stage.shape->kind == RowKind::real_to_complex
                                                   : stage.shape->kind == RowKind::complex_to_real);
    const Decomposition& decomposition = is_real ? space_ : spectrum_;
    return Block::packed(decomposition.pencil(stage.along, rank_), order,
                         is_real ? problem_.real_bytes : problem_.complex_bytes());
  }

  void from_user(Stage& stage, const std::array<int, 3>& order) {
    const Block block = user_block(stage, order, true);
    stage.source = {.place = Place::user, .sections = whole_section(stage)};
    add_moves(stage, true, {block, 0}, mover::Hint::reuse);
  }

  void to_user(Stage& stage, const std::array<int, 3>& order) {
    const Block block = user_block(stage, order, false);
    stage.sink = {.place = Place::user, .sections = whole_section(stage)};
    add_moves(stage, false, {block, 0}, problem_.hint);
  }

  void from_exchange(Stage& stage) {
    stage.source = {.place = Place::exchange, .exchange = schedule_.exchanges.size() - 1, .sections = {}};
    // Sections begin where a message of some sender does, if messages are cut along the outer direction.
    std::vector<std::int64_t> firsts{stage.outer_range.lower};
    for (const Flow& flow : flows_.incoming) {
      if (flow.block.grain > 0 && flow.block.cut == stage.outer) {
        for (std::int64_t grain = 1; grain < flow.block.grains(); ++grain) {
          firsts.push_back(flow.block.box.lower[at(stage.outer)] + grain * flow.block.grain);
        }
      }
    }
    add_sections(stage, stage.source, std::move(firsts));
    for (const Flow& flow : flows_.incoming) {
      add_moves(stage, true, flow, mover::Hint::reuse);
      add_needs(stage, flow);
    }
  }

  void to_exchange(Stage& stage, FlowShape shape) {
    shape.cut = stage.outer;
    shape.grain = problem_.grain;
    shape.element_bytes = problem_.complex_bytes();
    flows_ = make_flows(spectrum_, shape, rank_, ranks_);
    const std::size_t exchange = schedule_.exchanges.size();
    schedule_.exchanges.push_back(
        {.outgoing = flows_.outgoing_messages, .incoming = flows_.incoming_messages, .region = exchange});
    schedule_.region_bytes.push_back(static_cast<std::uint64_t>(flows_.received_bytes));

    stage.sink = {.place = Place::exchange, .exchange = exchange, .sections = {}};
    std::vector<std::int64_t> firsts;
    const std::int64_t grain =
        problem_.grain == 0 ? std::max<std::int64_t>(stage.outer_range.extent, 1) : problem_.grain;
    for (std::int64_t first = 0; first < stage.outer_range.extent; first += grain) {
      firsts.push_back(stage.outer_range.lower + first);
    }
    add_sections(stage, stage.sink, std::move(firsts));
    for (const Flow& flow : flows_.outgoing) {
      for (std::size_t i = 0; i < stage.sink.sections.size(); ++i) {
        stage.sink.sections[i].messages.push_back(flow.first_message + i);
      }
      add_moves(stage, false, flow, problem_.hint);
    }
  }

  /// A plane in cache between two stages: rows along the second's direction, as its tiles have them.
  void join(Stage& first, Stage& second) {
    const Box box = spectrum_.pencil(first.along, rank_);
    Block plane = Block::packed(box, {first.outer, first.along, second.along}, problem_.complex_bytes());
    plane.pitch_bytes = second.in_pitch_bytes;
    first.sink = {.place = Place::plane, .sections = whole_section(first)};
    add_moves(first, false, {plane, 0}, mover::Hint::reuse);
    for (Section& section : first.sink.sections) {
      for (auto& moves : section.moves) {
        for (Move& move : moves) {
          move.far_stride = 0;  // every outer index uses the same plane
        }
      }
    }
    second.source = {.place = Place::plane, .sections = {}};
    schedule_.plane_bytes = static_cast<std::uint64_t>(box.extent[at(first.along)] * plane.pitch_bytes);
  }

  static std::vector<Section> whole_section(const Stage& stage) {
    std::vector<Section> sections;
    if (stage.outer_range.extent > 0) {
      sections.push_back({.first = stage.outer_range.lower,
                          .end = stage.outer_range.lower + stage.outer_range.extent,
                          .moves = std::vector<std::vector<Move>>(stage.tiles.size()),
                          .needs = {},
                          .messages = {}});
    }
    return sections;
  }

  static void add_sections(const Stage& stage, End& end, std::vector<std::int64_t> firsts) {
    if (stage.outer_range.extent == 0) {
      return;
    }
    std::sort(firsts.begin(), firsts.end());
    firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      end.sections.push_back(
          {.first = firsts[i],
           .end = i + 1 < firsts.size() ? firsts[i + 1] : stage.outer_range.lower + stage.outer_range.extent,
           .moves = std::vector<std::vector<Move>>(stage.tiles.size()),
           .needs = std::vector<std::vector<std::size_t>>(stage.tiles.size()),
           .messages = {}});
    }
  }

  /// The box of tile `tile` at outer index `outer`, where its rows have `length` points.
  static Box tile_box(const Stage& stage, std::int64_t outer, const Range& tile, std::int64_t length) {
    Box box;
    box.lower[at(stage.outer)] = outer;
    box.extent[at(stage.outer)] = 1;
    box.lower[at(stage.across)] = tile.lower;
    box.extent[at(stage.across)] = tile.extent;
    box.lower[at(stage.along)] = 0;
    box.extent[at(stage.along)] = length;
    return box;
  }

  void add_moves(Stage& stage, bool is_source, const Flow& flow, mover::Hint hint) {
    const std::array<int, 3> tile_order{stage.outer, stage.across, stage.along};
    const Block& block = flow.block;
    const std::int64_t pitch = is_source ? stage.in_pitch_bytes : stage.out_pitch_bytes;
    const std::int64_t length = block.box.lower[at(stage.along)] + block.box.extent[at(stage.along)];
    for (Section& section : (is_source ? stage.source : stage.sink).sections) {
      for (std::size_t i = 0; i < stage.tiles.size(); ++i) {
        const Range& tile = stage.tiles[i];
        const Box common = intersect(block.box, tile_box(stage, section.first, tile, length));
        for (const Piece& piece : pieces_of(block, common)) {
          const Extents& extent = piece.box.extent;
          const std::array tile_levels{layout::Level{extent[at(stage.across)], pitch},
                                       layout::Level{extent[at(stage.along)], block.element_bytes}};
          const layout::Layout in_tile = layout::Layout::nest(0, tile_levels, block.element_bytes);
          const layout::Layout far = piece.layout(tile_order, block.element_bytes);
          Move move{.mover = is_source ? compiled(far, in_tile, hint) : compiled(in_tile, far, hint),
                    .far_offset = piece.offset_bytes,
                    .far_stride = piece.levels[at(stage.outer)].back().stride,
                    .tile_offset = (piece.box.lower[at(stage.across)] - tile.lower) * pitch +
                                   piece.box.lower[at(stage.along)] * block.element_bytes};
          if (!is_source && stage.sink.place == Place::exchange) {
            const std::int64_t grain =
                block.grain == 0 ? 0 : (section.first - block.box.lower[at(block.cut)]) / block.grain;
            move.message = flow.first_message + static_cast<std::size_t>(grain);
            move.far_offset -= block.offset_bytes + block.grain_offset(grain);  // from the message's own begin
          }
          section.moves[i].push_back(std::move(move));
        }
      }
    }
  }

  void add_needs(Stage& stage, const Flow& flow) {
    const Block& block = flow.block;
    const std::int64_t length = spectrum_.points()[at(stage.along)];
    for (Section& section : stage.source.sections) {
      for (std::size_t i = 0; i < stage.tiles.size(); ++i) {
        const Box common = intersect(block.box, tile_box(stage, section.first, stage.tiles[i], length));
        if (common.count() == 0) {
          continue;
        }
        const std::int64_t planes = block.grain == 0 ? block.box.extent[at(block.cut)] : block.grain;
        const std::int64_t first = (common.lower[at(block.cut)] - block.box.lower[at(block.cut)]) / planes;
        const std::int64_t last =
            (common.lower[at(block.cut)] + common.extent[at(block.cut)] - 1 - block.box.lower[at(block.cut)]) / planes;
        for (std::int64_t grain = first; grain <= last; ++grain) {
          section.needs[i].push_back(flow.first_message + static_cast<std::size_t>(grain));
        }
      }
    }
  }

  /// Equal copies are compiled once.
  mover::Mover compiled(const layout::Layout& source, const layout::Layout& destination, mover::Hint hint) {
    for (const auto& [known_source, known_destination, known_hint, mover] :
         movers_[source.hash() ^ destination.hash()]) {
      if (known_source == source && known_destination == destination && known_hint == hint) {
        return mover;
      }
    }
    mover::Mover mover = mover::Mover::compile(source, destination, hint);
    movers_[source.hash() ^ destination.hash()].push_back({source, destination, hint, mover});
    return mover;
  }

  struct Compiled {
    layout::Layout source;
    layout::Layout destination;
    mover::Hint hint;
    mover::Mover mover;
  };

  const Problem& problem_;
  bool is_forward_;
  int rank_;
  int ranks_;
  Decomposition spectrum_;
  Decomposition space_;
  Schedule schedule_;
  Flows flows_;  // of the exchange added last
  std::map<std::size_t, std::vector<Compiled>> movers_;
};

}  // namespace

std::size_t End::section_of(std::int64_t outer) const noexcept {
  const auto after = std::upper_bound(sections.begin(), sections.end(), outer,
                                      [](std::int64_t index, const Section& section) { return index < section.first; });
  return static_cast<std::size_t>(after - sections.begin()) - 1;
}

Extents Problem::spectrum_points() const noexcept {
  Extents points = options.size;
  if (options.type == Type::r2c) {
    points[0] = points[0] / 2 + 1;
  }
  return points;
}

Distribution input_of(const Problem& problem, int rank) {
  return {Decomposition(problem.options.size, problem.grid).pencil(x, rank), x_pencil_order};
}

Distribution output_of(const Problem& problem, int rank) {
  const Decomposition decomposition(problem.spectrum_points(), problem.grid);
  return problem.options.output == Output::transposed ? Distribution{decomposition.pencil(z, rank), z_pencil_order}
                                                      : Distribution{decomposition.pencil(x, rank), x_pencil_order};
}

std::int64_t field_bytes_of(const Problem& problem, int rank) {
  const std::int64_t input_bytes = problem.options.type == Type::r2c ? problem.real_bytes : problem.complex_bytes();
  const std::int64_t bytes = std::max(input_of(problem, rank).box.count() * input_bytes,
                                      output_of(problem, rank).box.count() * problem.complex_bytes());
  return round_up(bytes, problem.complex_bytes());
}

Schedule make_schedule(const Problem& problem, bool is_forward, int rank, int ranks) {
  Builder builder(problem, is_forward, rank, ranks);
  return is_forward ? builder.make_forward() : builder.make_backward();
}

}  // namespace penstock::fft
