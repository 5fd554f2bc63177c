// Routes and schedules are data: for small problems they are printed, and compared with what they were. A change that
// is meant writes them anew, with PENSTOCK_WRITE_GOLDEN=1, and the difference is read like a change of the code.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/problem.hpp"
#include "penstock/fft/route.hpp"
#include "penstock/fft/schedule.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/machine/machine.hpp"

namespace penstock::fft {
namespace {

/// A problem, on so many ranks, of which one's schedule is printed.
struct Case {
  const char* name;
  Options options;
  int ranks = 1;
  int rank = 0;
  Direction direction = Direction::forward;
  bool sends_messages = false;  ///< as if no rank mapped another's memory
  std::int64_t cache_bytes = std::int64_t{32} << 20;
};

/// How GoogleTest and CTest show a case.
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

/// Half of the points in x and in z, of ranks that are two by two there: no pencils along x or z.
Distribution brick(const Extents& points, int rank) {
  const Range x = shape::part_of(points[0], 2, rank % 2);
  const Range z = shape::part_of(points[2], 2, rank / 2);
  return {.box = {{x.lower, 0, z.lower}, {x.extent, points[1], z.extent}}, .order = {1, 2, 0}};
}

/// Two planes, or what is left of the field: FFTW's slabs on three ranks.
Distribution slab(const Extents& points, int rank) {
  const std::int64_t lower = std::min<std::int64_t>(points[2], 2 * rank);
  return {.box = {{0, 0, lower}, {points[0], points[1], std::min<std::int64_t>(2, points[2] - lower)}}};
}

std::vector<Case> cases() {
  const Options base{.size = {6, 5, 4}};
  const auto with = [&](auto&& change) {
    Options options = base;
    change(options);
    return options;
  };
  return {
      {"one_rank", base},
      {"one_rank_without_room_for_a_plane", base, 1, 0, Direction::forward, false, 256},
      {"one_rank_backward", base, 1, 0, Direction::backward},
      {"gaps_behind_planes", with([](Options& o) {
         o.size = {64, 2, 64};
       })},
      {"gaps_behind_planes_backward", with([](Options& o) {
         o.size = {64, 64, 2};
       }),
       1, 0, Direction::backward},
      {"slabs_of_two_ranks", base, 2, 1},
      {"pencils_of_four_ranks", with([](Options& o) {
         o.grid = {2, 2};
       }),
       4, 3},
      {"real_fields", with([](Options& o) {
         o.type = Type::r2c;
         o.grid = {2, 1};
       }),
       2, 0},
      {"real_fields_backward", with([](Options& o) {
         o.type = Type::r2c;
         o.grid = {2, 1};
       }),
       2, 0, Direction::backward},
      {"output_as_input", with([](Options& o) { o.output = Output::as_input; }), 2, 0},
      {"convolution", with([](Options& o) { o.convolves = true; }), 2, 0, Direction::there_and_back},
      {"sines_and_cosines_along_y_and_z", with([](Options& o) {
         o.type = Type::r2r;
         o.along = {false, true, true};
         o.kinds = {RealKind::redft10, RealKind::rodft00, RealKind::redft00};
       }),
       2, 1},
      {"messages_of_two_planes_and_deferred_parts", with([](Options& o) {
         o.size = {6, 5, 8};
         o.planes_per_message = 2;
         o.deferred_parts = 3;
       }),
       2, 0, Direction::forward, true},
      {"messages_of_one_plane_on_a_grid", with([](Options& o) {
         o.grid = {2, 2};
         o.planes_per_message = 1;
       }),
       4, 2, Direction::forward, true},
      {"bricks_of_the_user", with([](Options& o) {
         o.grid = {1, 4};
       }),
       4, 1},
      {"slabs_of_the_user", with([](Options& o) {
         o.type = Type::r2c;
         o.grid = {3, 1};
       }),
       3, 1},
  };
}

std::string text_of(const Box& box) {
  return fmt::format("[{} + {}]", fmt::join(box.lower, ","), fmt::join(box.extent, ","));
}

std::string text_of(const FieldLayout& layout) {
  std::string text = fmt::format("{} B", layout.element_bytes);
  for (const Box& box : layout.boxes) {
    text += " " + text_of(box);
  }
  return text;
}

char letter_of(int direction) {
  return "xyz"[direction];
}

std::string kind_of(const std::optional<RowKind>& kind) {
  static constexpr std::array names{
      "forward", "backward", "real to complex", "complex to real", "redft00", "redft10", "redft01", "redft11",
      "rodft00", "rodft10",  "rodft01",         "rodft11",         "r2hc",    "hc2r",    "dht"};
  return kind ? names[static_cast<std::size_t>(*kind)] : "move";
}

void print(std::ostream& out, const StageSpec& spec) {
  out << fmt::format("  {} along {}, outer {}, across {}{}{}\n    before {}\n    after  {}\n", kind_of(spec.kind),
                     letter_of(spec.along), letter_of(spec.outer), letter_of(spec.across),
                     spec.turns_back ? ", turns back" : "", spec.joins_next ? ", joins the next" : "",
                     text_of(spec.before), text_of(spec.after));
}

void print(std::ostream& out, const char* name, const End& end) {
  static constexpr std::array places{"user", "exchange", "plane"};
  out << fmt::format("    {}: {}{}, {}, {} B of {} B{}\n", name, places[static_cast<std::size_t>(end.place)],
                     end.place == Place::exchange ? fmt::format(" {}", end.exchange) : "",
                     end.is_direct ? "direct" : "by copies", end.element_bytes, end.pitch_bytes,
                     end.may_stream ? ", may stream" : "");
  for (const Section& section : end.sections) {
    out << fmt::format("      outer [{}, {}) group {}\n", section.first, section.end, section.group);
    for (const TileEnd& tile : section.tiles) {
      out << fmt::format("        tile of {} B, pencil stride {}, messages [{}]:", tile.bytes, tile.pencil_stride,
                         fmt::join(tile.messages, ","));
      for (const Stretch& stretch : tile.stretches) {
        out << fmt::format(" {}+{}o m{} {}..{} by {};", stretch.far.offset, stretch.far.stride, stretch.far.message,
                           stretch.first_point, stretch.first_point + stretch.points, stretch.point_stride);
      }
      for (const Move& move : tile.moves) {
        out << fmt::format(" {}+{}o m{} at {};", move.far.offset, move.far.stride, move.far.message, move.tile_offset);
      }
      out << "\n";
    }
  }
  for (const MessageGroup& group : end.groups) {
    out << fmt::format("      group of {} tiles completes [{}]\n", group.tiles, fmt::join(group.messages, ","));
  }
  if (!end.deferred_messages.empty()) {
    out << fmt::format("      deferred [{}]\n", fmt::join(end.deferred_messages, ","));
  }
}

void print(std::ostream& out, const Schedule& schedule) {
  for (std::size_t pass = 0; pass < schedule.passes.size(); ++pass) {
    out << fmt::format("pass {}\n", pass);
    for (const Stage& stage : schedule.passes[pass].stages) {
      out << fmt::format("  stage {}: {} along {}, {} to {} points, outer {} + {}, {} tiles{}\n", stage.number,
                         kind_of(stage.kind), letter_of(stage.along), stage.before_points, stage.after_points,
                         stage.outer_range.lower, stage.outer_range.extent, stage.tiles.size(),
                         stage.goes_by_tiles ? ", by tiles" : "");
      print(out, "source", stage.source);
      print(out, "sink", stage.sink);
    }
  }
  for (std::size_t number = 0; number < schedule.exchanges.size(); ++number) {
    const ExchangePlan& exchange = schedule.exchanges[number];
    out << fmt::format("exchange {}, region {} of {} B\n", number, exchange.region,
                       schedule.region_bytes[exchange.region]);
    for (const gas::Outgoing& message : exchange.outgoing) {
      out << fmt::format("  to {}: {} B at {}, its message {}{}\n", message.peer, message.bytes, message.offset,
                         message.index, message.wave == gas::no_wave ? "" : fmt::format(", wave {}", message.wave));
    }
    for (const gas::Incoming& message : exchange.incoming) {
      out << fmt::format("  from {}: {} B at {}\n", message.peer, message.bytes, message.offset);
    }
  }
}

/// On every machine the same: caches of fixed sizes, kernels in place of compiled copies.
std::string printed(const Case& c) {
  std::mutex mutex;
  std::string text;
  gas::run_world(c.ranks, [&](gas::Team& team) {
    Options options = c.options;
    options.effort = Effort::estimate;
    options.movers = Movers::ahead_of_time;
    options.instruction_set = InstructionSet::portable;
    options.local = "penstock";
    options.machine = machine::built_in();
    options.machine->node.cache_bytes = c.cache_bytes;
    options.machine->node.cache_l2_bytes = std::int64_t{1} << 20;
    if (std::string_view(c.name) == "bricks_of_the_user") {
      options.input_part = brick(options.size, team.rank());
      options.output_part = brick(options.size, team.rank());
    } else if (std::string_view(c.name) == "slabs_of_the_user") {
      options.input_part = slab(options.size, team.rank());
    }
    Problem problem = resolve<double>(team, options);
    problem.has_far_peers = c.sends_messages;
    if (team.rank() == c.rank) {
      std::ostringstream out;
      out << "route\n";
      for (const StageSpec& spec : make_route(problem, c.direction)) {
        print(out, spec);
      }
      print(out, make_schedule(problem, c.direction, c.rank));
      const std::scoped_lock lock(mutex);
      text = out.str();
    }
  });
  return text;
}

class GoldenPlan : public testing::TestWithParam<Case> {};

TEST_P(GoldenPlan, IsAsItWas) {
  const std::filesystem::path path =
      std::filesystem::path(PENSTOCK_GOLDEN_PLANS) / (std::string(GetParam().name) + ".txt");
  const std::string now = printed(GetParam());
  if (std::getenv("PENSTOCK_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path) << now;
  }
  EXPECT_EQ(now, read_text(path.string()));
}

INSTANTIATE_TEST_SUITE_P(Of, GoldenPlan, testing::ValuesIn(cases()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace penstock::fft
