// From paths to a plan, from a plan to a run: files, journal, tiling, scratch, in the order in which each can refuse.
#include "penstock/fft/files/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/files/passes.hpp"
#include "penstock/fft/files/rank_journals.hpp"
#include "penstock/fft/files/rates.hpp"
#include "penstock/fft/files/tiling.hpp"
#include "penstock/journal/journal.hpp"
#include "penstock/model/model.hpp"
#include "penstock/outofcore/outofcore.hpp"
#include "penstock/volume/volume.hpp"

namespace penstock::fft {
namespace {

namespace fs = std::filesystem;

/// Where the input's elements lie, and of what they are.
struct FieldHeader {
  npy::DataType type = npy::DataType::complex128;
  Extents size{};
  std::int64_t data_offset = 0;

  std::int64_t data_bytes() const noexcept { return size[0] * size[1] * size[2] * npy::element_bytes(type); }
};

FieldHeader read_field_header(const FileField& field) {
  const std::string& name = field.input;
  const volume::Reader reader(name);
  const bool is_complex = field.type == Type::c2c || field.is_backward;
  if (npy::is_complex(reader.type()) != is_complex) {
    throw Error(fmt::format("'{}' holds {}, and this transform in files is of {}", name, npy::name(reader.type()),
                            is_complex ? "complex64 or complex128" : "float32 or float64"));
  }
  if (!reader.obstacle().empty()) {
    throw Error(fmt::format(
        "'{}' is {}, and a transform in passes over files reads its elements as they lie there: write it as "
        "{}, little-endian and in one piece",
        name, reader.obstacle(), npy::name(reader.type())));
  }
  return {.type = reader.type(), .size = reader.size(), .data_offset = reader.data_offset()};
}

/// What a field and its spectrum are, by the header of the one that is there.
FileShape shape_of(const FileField& field, const FieldHeader& header) {
  const bool is_single = npy::is_single(header.type);
  FileShape shape{.points = header.size,
                  .type = is_single ? npy::DataType::complex64 : npy::DataType::complex128,
                  .is_real = field.type == Type::r2c};
  if (shape.is_real && field.is_backward) {
    const std::int64_t coefficients = header.size[0];
    shape.points[0] = field.nx > 0 ? field.nx : even_points(coefficients);
    if (shape.spectrum_row_points() != coefficients) {
      throw Error(fmt::format("'{}' has {} coefficients along x, and the spectrum of {} real points has {}",
                              field.input, coefficients, shape.points[0], shape.spectrum_row_points()));
    }
  }
  return shape;
}

double factor_of(Scaling scaling, const Extents& size) noexcept {
  const double points = static_cast<double>(size[0]) * static_cast<double>(size[1]) * static_cast<double>(size[2]);
  return scaling == Scaling::none ? 1 : scaling == Scaling::full ? 1 / points : 1 / std::sqrt(points);
}

/// What one pass is on this field, and what of it is to be made.
struct PassWork {
  std::string kind;               // of its pieces: "slab" or "column"
  std::int64_t count = 0;         // of all its pieces
  std::int64_t field_bytes = 0;   // of the field or spectrum as this pass reads or writes it
  std::int64_t piece_bytes = 0;   // of one piece in memory
  std::int64_t memory_bytes = 0;  // of all pieces that are in memory at once
  double flops = 0;
  std::int64_t found = 0;                 // pieces that an earlier run has made
  std::vector<std::int64_t> wanted = {};  // pieces that are to be made

  percolate::Slots slots() const { return percolate::Slots({{"memory", static_cast<std::size_t>(memory_bytes)}}); }
  /// The part of the pass that is to be made.
  double left() const { return static_cast<double>(wanted.size()) / static_cast<double>(count); }
};

PassWork work_on_slabs(const FileCuts& cuts, int threads) {
  return {.kind = "slab",
          .count = cuts.slabs(),
          .field_bytes = cuts.space_bytes(),
          .piece_bytes = cuts.slab_bytes(),
          .memory_bytes = slab_pass_bytes(cuts, threads),
          .flops = pass_flops(cuts.shape()).slabs};
}

PassWork work_on_columns(const FileCuts& cuts, int threads) {
  return {.kind = "column",
          .count = cuts.columns(),
          .field_bytes = cuts.spectrum_bytes(),
          .piece_bytes = cuts.column_bytes(),
          .memory_bytes = column_pass_bytes(cuts, threads),
          .flops = pass_flops(cuts.shape()).columns};
}

void add(percolate::RunTimes& sum, const percolate::RunTimes& times) {
  sum.work_s += times.work_s;
  sum.idle_s += times.idle_s;
  sum.parcels += times.parcels;
  sum.read_bytes += times.read_bytes;
  sum.written_bytes += times.written_bytes;
}

}  // namespace

std::int64_t even_points(std::int64_t coefficients) noexcept {
  return std::max<std::int64_t>(2 * (coefficients - 1), 1);
}

struct FileTransform::State {
  explicit State(const gas::Team& user_team) : team(user_team.split(0, user_team.rank())) {}

  gas::Team team;
  FileField field;
  FileOptions options;
  FilePlan plan;
  FileShape shape;
  FieldHeader header;  // of the input
  File input;
  File input_direct;
  std::optional<outofcore::Driver> driver;
  FileCuts cuts;
  File output;
  std::int64_t output_offset = 0;
  File scratch;
  journal::ResumeKey key;  // of the work, as it began: rank 0's
  std::optional<RankJournals> journals;
  std::optional<FieldTransforms> transforms;
  PassWork first;
  PassWork second;
  percolate::RunTimes times;  // of this rank
  std::atomic<std::int64_t> done_bytes = 0;
  std::int64_t total_bytes = 0;

  bool is_first_rank() const { return team.rank() == 0; }
  /// Collective: rank 0 works, and all have what it returns. T is trivially copyable.
  template <class Work>
  auto on_first_rank(const Work& work) const {
    decltype(work()) value{};
    team.together([&] {
      if (is_first_rank()) {
        value = work();
      }
    });
    return team.all_gather(value).front();
  }
  /// This rank's part of some pieces.
  std::vector<std::int64_t> share_of(const std::vector<std::int64_t>& pieces) const {
    std::vector<std::int64_t> mine;
    for (auto i = static_cast<std::size_t>(team.rank()); i < pieces.size();
         i += static_cast<std::size_t>(team.size())) {
      mine.push_back(pieces[i]);
    }
    return mine;
  }
  /// Collective: what any rank has in its list.
  std::vector<std::int64_t> all_of_ranks(const std::vector<std::int64_t>& mine, std::int64_t count) const;
  std::string output_path() const { return follow_links(volume::file_path(field.output)); }
  std::string scratch_path() const { return output_path() + ".scratch"; }
  std::string part_path() const { return Draft::part_path(output_path()); }
  void open_input();
  journal::ResumeKey resume_key(bool verifies_input) const;
  std::int64_t taken_besides() const;
  FileTiling tiling_of(bool goes_on, std::int64_t besides) const;
  void choose(bool goes_on);
  void open_files(bool goes_on);
  void find_pieces();
  void predict(const model::StorageCosts& rates);
  PassSetting setting();
  template <class Pass>
  percolate::RunTimes run(Pass& pass, const percolate::Slots& slots);
  void run_first();
  std::int64_t run_second();
  /// The order of the passes follows from where the transform along x has its real points.
  bool begins_with_columns() const { return shape.is_real && field.is_backward; }
};

void FileTransform::State::open_input() {
  header = read_field_header(field);
  shape = shape_of(field, header);
  const std::string input_path = volume::file_path(field.input);
  input = File::open(input_path);
  input_direct = File::open_direct(input_path);
  std::error_code ignored;
  if (fs::equivalent(input_path, output_path(), ignored)) {
    throw Error(fmt::format("'{}' is read and written: name another file for the output", field.output));
  }
  plan.type = shape.type;
  plan.is_real = shape.is_real;
  plan.size = shape.points;
  if (is_first_rank()) {
    driver.emplace(options, "transform", volume::file_path(field.output), std::vector{scratch_path()});
    key = resume_key(options.verifies_input);
  } else {
    driver.emplace(options, "transform");
  }
  plan.engine = driver->engine().name();
}

journal::ResumeKey FileTransform::State::resume_key(bool verifies_input) const {
  journal::ResumeKey resume_key = {
      {"transform", fmt::format("{} {}x{}x{}{}, {}, times {:a}", npy::name(plan.type), plan.size[0], plan.size[1],
                                plan.size[2], plan.is_real ? " real" : "", field.is_backward ? "backward" : "forward",
                                factor_of(field.scaling, plan.size))}};
  journal::add_input(resume_key, "input", field.input, input, verifies_input);
  return resume_key;
}

/// What of the memory is for other things than slabs and columns, as the process is now; where not the process is
/// counted, for the tiles that threads work in.
std::int64_t FileTransform::State::taken_besides() const {
  if (!options.counts_process) {
    using transform::Kind;
    std::int64_t tile_bytes = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const bool is_real = d == 0 && plan.is_real;
      for (const Kind kind :
           {is_real ? Kind::real_to_complex : Kind::forward, is_real ? Kind::complex_to_real : Kind::backward}) {
        tile_bytes = std::max(tile_bytes,
                              LineTransform::max_tile_bytes({.kind = kind, .type = plan.type, .points = plan.size[d]}));
      }
    }
    return options.threads * tile_bytes;
  }
  return driver->reserved_bytes(std::int64_t{128} * cuts.slabs() * cuts.columns());  // the journals, as they grow
}

/// The tiling of which so much is taken besides, the journal's or the best.
FileTiling FileTransform::State::tiling_of(bool goes_on, std::int64_t besides) const {
  const int threads = options.threads;
  if (!goes_on) {
    return choose_file_tiling(shape, threads, options.memory_bytes - besides, besides);
  }
  const FileTiling tiling = parse_file_tiling(driver->result().journal().fact("tiling"));
  if (tiling.planes < 1 || tiling.planes > shape.points[2] || tiling.points < 1 ||
      tiling.points > shape.spectrum_row_points() * shape.points[1]) {
    throw driver->foreign_tiling();
  }
  driver->check_begun(cuts_bytes(FileCuts(shape, tiling), threads), besides, "slabs and columns");
  return tiling;
}

/// What transforms take themselves is seen when they are there, and depends a little on how the field is cut.
void FileTransform::State::choose(bool goes_on) {
  constexpr int max_rounds = 4;
  std::int64_t besides = team.largest(taken_besides());
  for (int round = 0; round < max_rounds; ++round) {
    cuts = FileCuts(shape, on_first_rank([&] { return tiling_of(goes_on, besides); }));
    team.together([&] {
      transforms.reset();
      transforms.emplace(cuts, field.is_backward, options.threads);
    });
    const std::int64_t now = team.largest(taken_besides());
    if (now <= besides) {
      break;
    }
    besides = now;
  }
  first = work_on_slabs(cuts, options.threads);
  second = work_on_columns(cuts, options.threads);
  if (begins_with_columns()) {
    std::swap(first, second);
  }
  plan.reserved_bytes = besides;
  plan.tiling = cuts.tiling();
  plan.slabs = cuts.slabs();
  plan.columns = cuts.columns();
  plan.brick_bytes = cuts.brick_bytes();
  plan.run_bytes = cuts.points_of(0) * cuts.element_bytes();
  plan.block_bytes = cuts_bytes(cuts, options.threads);
  plan.scratch_bytes = cuts.scratch_bytes();
}

void FileTransform::State::open_files(bool goes_on) {
  const bool is_spectrum = !field.is_backward;
  const FieldHeader output_header{
      .type = is_spectrum ? shape.type : shape.space_type(),
      .size = {is_spectrum ? shape.spectrum_row_points() : shape.points[0], shape.points[1], shape.points[2]}};
  std::string text;
  output_offset = on_first_rank([&] {
    text = volume::header_text(field.output, output_header.type, output_header.size);
    return std::ssize(text);
  });
  const auto open_first = [&] {
    output = driver->result().open(goes_on ? journal::ResumeState::goes_on : journal::ResumeState::anew, key,
                                   describe(plan.tiling), text, output_offset + output_header.data_bytes());
    const bool has_scratch = goes_on && fs::exists(scratch_path());
    try {
      scratch = has_scratch ? File::open_direct_for_writing(scratch_path()) : File::create_direct(scratch_path());
      if (scratch.size() != plan.scratch_bytes) {
        scratch.reserve(plan.scratch_bytes);
      }
    } catch (...) {
      if (!goes_on) {
        driver->result().discard();
      }
      throw;
    }
  };
  team.together([&] {
    if (is_first_rank()) {
      open_first();
    }
  });
  team.together([&] {
    if (!is_first_rank()) {
      output = File::open_for_writing(part_path());
      scratch = File::open_direct_for_writing(scratch_path());
    }
  });
  journals.emplace(team, is_first_rank() ? &driver->result().journal() : nullptr, Draft::journal_path(output_path()),
                   journal::ResumableFile::first_lines(resume_key(false), describe(plan.tiling)), goes_on);
}

std::vector<std::int64_t> FileTransform::State::all_of_ranks(const std::vector<std::int64_t>& mine,
                                                             std::int64_t count) const {
  std::vector<std::int64_t> all;
  std::size_t next = 0;
  // Few, if any.
  for (std::int64_t left = team.largest(std::ssize(mine)); left > 0; --left) {
    const std::int64_t one = next < mine.size() ? mine[next++] : count;
    for (const std::int64_t piece : team.all_gather(one)) {
      if (piece < count) {
        all.push_back(piece);
      }
    }
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Trusts nothing of an earlier run's output that is not what it wrote. Bricks are looked at when they are read.
void FileTransform::State::find_pieces() {
  journals->share(second.kind);
  journals->share(brick_piece);
  std::vector<std::int64_t> found;
  for (const auto& [piece, sum] : journals->pieces(second.kind)) {
    if (piece >= 0 && piece < second.count) {
      found.push_back(piece);
    }
  }
  std::vector<bool> is_made(static_cast<std::size_t>(second.count));
  if (!found.empty()) {
    std::vector<std::int64_t> torn;
    team.together([&] {
      percolate::Slots slots = second.slots();
      const std::unique_ptr<Pieces> pieces = make_pieces(setting(), slots, false);
      OutputCheck check(setting(), *pieces, share_of(found));
      run(check, slots);
      torn = check.torn();
    });
    torn = all_of_ranks(torn, second.count);
    for (const std::int64_t piece : found) {
      is_made[static_cast<std::size_t>(piece)] = true;
    }
    for (const std::int64_t piece : torn) {
      is_made[static_cast<std::size_t>(piece)] = false;
    }
    journals->forget(second.kind, torn);
    plan.pieces_torn = std::ssize(torn);
    second.found = std::ssize(found) - plan.pieces_torn;
  }
  for (std::int64_t piece = 0; piece < second.count; ++piece) {
    if (!is_made[static_cast<std::size_t>(piece)]) {
      second.wanted.push_back(piece);
    }
  }
  const RankJournals::Pieces& bricks = journals->pieces(brick_piece);
  for (std::int64_t piece = 0; !second.wanted.empty() && piece < first.count; ++piece) {
    bool is_whole = true;
    for (std::int64_t other = 0; other < second.count; ++other) {
      is_whole = is_whole && bricks.contains(brick_number(piece, other, second.count));
    }
    first.found += is_whole ? 1 : 0;
    if (!is_whole) {
      first.wanted.push_back(piece);
    }
  }
  plan.slabs_found = begins_with_columns() ? second.found : first.found;
  plan.columns_found = begins_with_columns() ? first.found : second.found;
}

void FileTransform::State::predict(const model::StorageCosts& rates) {
  plan.storage = {.read_bytes_per_s = rates.read_bytes_per_s, .write_bytes_per_s = rates.write_bytes_per_s};
  plan.rate_flops = rates.rate_flops * team.size();
  const model::StorageCosts costs{.read_bytes_per_s = rates.read_bytes_per_s,
                                  .write_bytes_per_s = rates.write_bytes_per_s,
                                  .rate_flops = plan.rate_flops};
  const auto pass_s = [&](const PassWork& pass, double read_bytes, double written_bytes) {
    return model::storage_pass_s(costs, {.read_bytes = pass.left() * read_bytes,
                                         .written_bytes = pass.left() * written_bytes,
                                         .flops = pass.left() * pass.flops,
                                         .edge_bytes = static_cast<double>(pass.piece_bytes)});
  };
  const auto scratch_bytes = static_cast<double>(cuts.scratch_bytes());
  plan.predicted_s = pass_s(first, static_cast<double>(first.field_bytes), scratch_bytes) +
                     pass_s(second, scratch_bytes, static_cast<double>(second.field_bytes));
}

PassSetting FileTransform::State::setting() {
  return {.files = {.input = &input,
                    .input_direct = &input_direct,
                    .input_offset = header.data_offset,
                    .input_bytes = header.data_offset + header.data_bytes(),
                    .output = &output,
                    .output_offset = output_offset,
                    .scratch = &scratch},
          .cuts = cuts,
          .begins_with_columns = begins_with_columns(),
          .transforms = &*transforms,
          .factor = factor_of(field.scaling, plan.size),
          .threads = options.threads,
          .journals = &*journals,
          .done_bytes = &done_bytes};
}

template <class Pass>
percolate::RunTimes FileTransform::State::run(Pass& pass, const percolate::Slots& slots) {
  // As many parcels as reach into the pieces after those for which there are slots.
  const int window = 6 * options.threads + 16;
  return driver->run(
      slots, [&] { return pass.next(); }, window,
      [&] {
        return outofcore::Done{.done = static_cast<double>(done_bytes.load()),
                               .total = static_cast<double>(total_bytes)};
      });
}

FileTransform::FileTransform(const FileField& field, const FileOptions& options)
    : FileTransform(gas::world_alone(), field, options) {}

FileTransform::FileTransform(const gas::Team& team, const FileField& field, const FileOptions& options)
    : state_(std::make_unique<State>(team)) {
  State& state = *state_;
  state.field = field;
  state.options = options;
  state.team.together([&] { state.open_input(); });
  const auto resume_state = state.on_first_rank([&] { return state.driver->result().find(state.key); });
  if (resume_state == journal::ResumeState::complete) {
    state.plan.was_complete = true;
    return;
  }
  const bool goes_on = resume_state == journal::ResumeState::goes_on;
  const model::StorageCosts rates = state.on_first_rank([&] {
    const std::int64_t had_bytes = options.counts_process ? resident_bytes() : 0;
    return find_storage_rates(options, state.plan.size, state.plan.type, folder_of(volume::file_path(field.output)),
                              state.driver->engine(), state.driver->measuring_bytes(had_bytes));
  });
  state.choose(goes_on);
  state.open_files(goes_on);
  state.find_pieces();
  state.predict(rates);
}

FileTransform::~FileTransform() = default;

const FilePlan& FileTransform::plan() const noexcept {
  return state_->plan;
}

/// Collective: makes the pieces of the first pass that are wanted.
void FileTransform::State::run_first() {
  team.together([&] {
    percolate::Slots slots = first.slots();
    const std::unique_ptr<Pieces> pieces = make_pieces(setting(), slots, true);
    FirstPass pass(setting(), *pieces, share_of(first.wanted), slots);
    add(times, run(pass, slots));
  });
  first.wanted.clear();
  journals->share(brick_piece);
}

/// Collective: likewise of the second, with what both have to make again. Returns how many bricks were torn.
std::int64_t FileTransform::State::run_second() {
  std::vector<std::int64_t> torn_firsts;
  std::vector<std::int64_t> torn_seconds;
  std::int64_t torn_bricks = 0;
  team.together([&] {
    percolate::Slots slots = second.slots();
    const std::unique_ptr<Pieces> pieces = make_pieces(setting(), slots, false);
    SecondPass pass(setting(), *pieces, share_of(second.wanted), slots);
    add(times, run(pass, slots));
    torn_firsts = pass.torn_others();
    torn_seconds = pass.torn();
    torn_bricks = pass.torn_bricks();
    output.sync();
  });
  first.wanted = all_of_ranks(torn_firsts, first.count);
  second.wanted = all_of_ranks(torn_seconds, second.count);
  const std::vector<std::int64_t> of_ranks = team.all_gather(torn_bricks);
  return std::accumulate(of_ranks.begin(), of_ranks.end(), std::int64_t{0});
}

FileResult FileTransform::run() {
  State& state = *state_;
  FileResult result;
  if (state.plan.was_complete) {
    state.team.together([&] {
      if (state.is_first_rank()) {
        state.driver->result().clear();
      }
    });
    return result;
  }
  // Each pass moves a field and the spectrum's bricks.
  const auto bytes_of = [&](const PassWork& pass) {
    const std::int64_t all_bytes = pass.field_bytes + state.cuts.spectrum_bytes();
    return std::ssize(state.share_of(pass.wanted)) * all_bytes / pass.count;
  };
  state.done_bytes = 0;
  state.total_bytes = bytes_of(state.first) + bytes_of(state.second);
  state.driver->make([&] {
    // One round, where storage gives back what it was given.
    constexpr int max_rounds = 3;
    for (int round = 0; !state.second.wanted.empty(); ++round) {
      if (round == max_rounds) {
        throw Error(fmt::format("'{}' does not keep what is written to it: {} bricks were not as they should be",
                                state.scratch_path(), result.bricks_torn));
      }
      if (!state.first.wanted.empty()) {
        state.run_first();
      }
      result.bricks_torn += state.run_second();
    }
  });
  state.team.together([&] {
    if (state.is_first_rank()) {
      state.driver->complete(state.resume_key(state.options.verifies_input));
    }
  });
  state.output = File();  // and with it its lock
  state.journals->remove();
  for (const percolate::RunTimes& times : state.team.all_gather(state.times)) {
    add(result.times, times);
  }
  result.times.total_s = state.driver->elapsed_s();
  return result;
}

}  // namespace penstock::fft
