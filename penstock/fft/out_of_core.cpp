// From paths to a plan, from a plan to a run: files, journal, tiling, scratch, in the order in which each can refuse.
#include "penstock/fft/out_of_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/file_passes.hpp"
#include "penstock/fft/file_rates.hpp"
#include "penstock/fft/file_tiling.hpp"
#include "penstock/journal/journal.hpp"
#include "penstock/model/model.hpp"
#include "penstock/outofcore/outofcore.hpp"

namespace penstock::fft {
namespace {

namespace fs = std::filesystem;

npy::Header read_field_header(const std::string& path) {
  npy::Header header = npy::read_header(path);
  if (!npy::is_complex(header.type)) {
    throw Error(fmt::format("'{}' holds {}, and transforms in files are of complex64 or complex128: convert it", path,
                            npy::name(header.type)));
  }
  if (header.shape.size() != 3 || header.elements() == 0) {
    throw Error(
        fmt::format("'{}' is an array of {} dimensions and {} elements, and a field has 3 and at least one point", path,
                    header.shape.size(), header.elements()));
  }
  return header;
}

double factor_of(Scaling scaling, const Extents& size) noexcept {
  const double points = static_cast<double>(size[0]) * static_cast<double>(size[1]) * static_cast<double>(size[2]);
  return scaling == Scaling::none ? 1 : scaling == Scaling::full ? 1 / points : 1 / std::sqrt(points);
}

std::vector<std::int64_t> all_of(std::int64_t count) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(i);
  }
  return numbers;
}

void add(percolate::RunTimes& sum, const percolate::RunTimes& times) {
  sum.work_s += times.work_s;
  sum.idle_s += times.idle_s;
  sum.parcels += times.parcels;
  sum.read_bytes += times.read_bytes;
  sum.written_bytes += times.written_bytes;
}

}  // namespace

struct FileTransform::State {
  FileField field;
  FileOptions options;
  FilePlan plan;
  npy::Header header;  // of the input
  File input;
  File input_direct;
  std::optional<outofcore::Driver> driver;
  FileCuts cuts;
  File output;
  std::int64_t output_offset = 0;
  File scratch;
  std::optional<FieldTransforms> transforms;
  std::vector<std::int64_t> slabs;    // that are to be made
  std::vector<std::int64_t> columns;  // the same
  std::atomic<std::int64_t> done_bytes = 0;
  std::int64_t total_bytes = 0;

  std::string scratch_path() const { return follow_links(field.output) + ".scratch"; }
  journal::ResumeKey resume_key() const;
  std::int64_t taken_besides() const;
  void cut(bool goes_on, std::int64_t besides);
  void choose(bool goes_on);
  void open_files(bool goes_on);
  void find_pieces();
  void predict(const model::StorageCosts& rates);
  PassSetting setting();
  template <class Pass>
  percolate::RunTimes run(Pass& pass, const percolate::Slots& slots);
  static percolate::Slots take_slots(std::int64_t bytes) {
    return percolate::Slots({{"memory", static_cast<std::size_t>(bytes)}});
  }
};

journal::ResumeKey FileTransform::State::resume_key() const {
  journal::ResumeKey resume_key = {
      {"transform",
       fmt::format("{} {}x{}x{}, {}, times {:a}", npy::name(plan.type), plan.size[0], plan.size[1], plan.size[2],
                   field.is_backward ? "backward" : "forward", factor_of(field.scaling, plan.size))}};
  journal::add_input(resume_key, "input", field.input, input, options.verifies_input);
  return resume_key;
}

/// What of the memory is for other things than slabs and columns, as the process is now; where not the process is
/// counted, for the tiles that threads work in.
std::int64_t FileTransform::State::taken_besides() const {
  if (!options.counts_process) {
    std::int64_t tile_bytes = 0;
    for (const std::int64_t points : plan.size) {
      tile_bytes = std::max(tile_bytes, LineTransform::max_tile_bytes(plan.type, points));
    }
    return options.threads * tile_bytes;
  }
  return driver->reserved_bytes(std::int64_t{64} * cuts.slabs() * cuts.columns());  // the journal, as it grows
}

/// Cuts the field by a tiling of which so much is taken besides, the journal's or the best.
void FileTransform::State::cut(bool goes_on, std::int64_t besides) {
  const int threads = options.threads;
  FileTiling tiling;
  if (goes_on) {
    tiling = parse_file_tiling(driver->result().journal().fact("tiling"));
    if (tiling.planes < 1 || tiling.planes > plan.size[2] || tiling.points < 1 ||
        tiling.points > plan.size[0] * plan.size[1]) {
      throw driver->foreign_tiling();
    }
    driver->check_begun(cuts_bytes(FileCuts(plan.size, plan.type, tiling), threads), besides, "slabs and columns");
  } else {
    tiling = choose_file_tiling(plan.size, plan.type, threads, options.memory_bytes - besides, besides);
  }
  cuts = FileCuts(plan.size, plan.type, tiling);
}

/// What transforms take themselves is seen when they are there, and depends a little on how the field is cut.
void FileTransform::State::choose(bool goes_on) {
  constexpr int max_rounds = 4;
  std::int64_t besides = taken_besides();
  for (int round = 0; round < max_rounds; ++round) {
    cut(goes_on, besides);
    transforms.reset();
    transforms.emplace(plan.size, plan.type, cuts, field.is_backward, options.threads);
    const std::int64_t now = taken_besides();
    if (now <= besides) {
      break;
    }
    besides = now;
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
  const npy::Header output_header{.type = header.type, .shape = header.shape};
  const std::string text = npy::header_text(field.output, output_header);
  output_offset = std::ssize(text);
  output = driver->result().open(goes_on ? journal::ResumeState::goes_on : journal::ResumeState::anew, resume_key(),
                                 describe(plan.tiling), text, output_offset + header.data_bytes());
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
}

/// Trusts no column of an earlier run whose elements are not what it wrote. Bricks are looked at when they are read.
void FileTransform::State::find_pieces() {
  const journal::Journal& journal = driver->result().journal();
  const journal::Journal::Pieces& told = journal.pieces(column_piece);
  std::vector<std::int64_t> found;
  for (const auto& [column, sum] : told) {
    if (column >= 0 && column < plan.columns) {
      found.push_back(column);
    }
  }
  std::vector<bool> is_made(static_cast<std::size_t>(plan.columns));
  if (!found.empty()) {
    percolate::Slots slots = take_slots(column_pass_bytes(cuts, options.threads));
    ColumnCheck check(setting(), found, slots);
    run(check, slots);
    for (const std::int64_t column : found) {
      is_made[static_cast<std::size_t>(column)] = true;
    }
    for (const std::int64_t column : check.torn_columns()) {
      is_made[static_cast<std::size_t>(column)] = false;
      driver->result().journal().forget(column_piece, column);
    }
    plan.columns_torn = std::ssize(check.torn_columns());
    plan.columns_found = std::ssize(found) - plan.columns_torn;
  }
  for (const std::int64_t column : all_of(plan.columns)) {
    if (!is_made[static_cast<std::size_t>(column)]) {
      columns.push_back(column);
    }
  }
  const journal::Journal::Pieces& bricks = journal.pieces(brick_piece);
  for (const std::int64_t slab : all_of(columns.empty() ? 0 : plan.slabs)) {
    bool is_whole = true;
    for (std::int64_t column = 0; column < plan.columns; ++column) {
      is_whole = is_whole && bricks.contains(cuts.brick_number(slab, column));
    }
    plan.slabs_found += is_whole ? 1 : 0;
    if (!is_whole) {
      slabs.push_back(slab);
    }
  }
}

void FileTransform::State::predict(const model::StorageCosts& rates) {
  plan.storage = {.read_bytes_per_s = rates.read_bytes_per_s, .write_bytes_per_s = rates.write_bytes_per_s};
  plan.rate_flops = rates.rate_flops;
  const PassFlops flops = pass_flops(plan.size);
  const double slabs_left = static_cast<double>(slabs.size()) / static_cast<double>(plan.slabs);
  const double columns_left = static_cast<double>(columns.size()) / static_cast<double>(plan.columns);
  const auto field_bytes = static_cast<double>(cuts.field_bytes());
  const auto scratch_bytes = static_cast<double>(cuts.scratch_bytes());
  plan.predicted_s = model::storage_pass_s(rates, {.read_bytes = slabs_left * field_bytes,
                                                   .written_bytes = slabs_left * scratch_bytes,
                                                   .flops = slabs_left * flops.slabs,
                                                   .edge_bytes = static_cast<double>(cuts.slab_bytes())}) +
                     model::storage_pass_s(rates, {.read_bytes = columns_left * scratch_bytes,
                                                   .written_bytes = columns_left * field_bytes,
                                                   .flops = columns_left * flops.columns,
                                                   .edge_bytes = static_cast<double>(cuts.column_bytes())});
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
          .transforms = &*transforms,
          .factor = factor_of(field.scaling, plan.size),
          .threads = options.threads,
          .journal = &driver->result().journal(),
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

FileTransform::FileTransform(const FileField& field, const FileOptions& options) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.field = field;
  state.options = options;
  state.header = read_field_header(field.input);
  state.input = File::open(field.input);
  state.input_direct = File::open_direct(field.input);
  std::error_code ignored;
  if (fs::equivalent(field.input, field.output, ignored)) {
    throw Error(fmt::format("'{}' is read and written: name another file for the output", field.output));
  }
  state.plan.type = state.header.type;
  state.plan.size = {state.header.shape[2], state.header.shape[1], state.header.shape[0]};
  state.driver.emplace(options, "transform", field.output, std::vector{state.scratch_path()});
  state.plan.engine = state.driver->engine().name();
  const journal::ResumeState resume_state = state.driver->result().find(state.resume_key());
  if (resume_state == journal::ResumeState::complete) {
    state.plan.was_complete = true;
    return;
  }
  const bool goes_on = resume_state == journal::ResumeState::goes_on;
  const std::int64_t had_bytes = options.counts_process ? resident_bytes() : 0;
  const model::StorageCosts rates =
      find_storage_rates(options, state.plan.size, state.plan.type, folder_of(field.output), state.driver->engine(),
                         state.driver->measuring_bytes(had_bytes));
  state.choose(goes_on);
  state.open_files(goes_on);
  state.find_pieces();
  state.predict(rates);
}

FileTransform::~FileTransform() = default;

const FilePlan& FileTransform::plan() const noexcept {
  return state_->plan;
}

FileResult FileTransform::run() {
  State& state = *state_;
  FileResult result;
  if (state.plan.was_complete) {
    state.driver->result().clear();
    return result;
  }
  const std::int64_t piece_bytes = 2 * state.cuts.field_bytes();
  state.done_bytes = 0;
  state.total_bytes = std::ssize(state.slabs) * piece_bytes / state.plan.slabs +
                      std::ssize(state.columns) * piece_bytes / state.plan.columns;
  state.driver->make([&] {
    // One round, where storage gives back what it was given.
    constexpr int max_rounds = 3;
    for (int round = 0; !state.columns.empty(); ++round) {
      if (round == max_rounds) {
        throw Error(fmt::format("'{}' does not keep what is written to it: {} bricks were not as they should be",
                                state.scratch_path(), result.bricks_torn));
      }
      if (!state.slabs.empty()) {
        percolate::Slots slots = State::take_slots(slab_pass_bytes(state.cuts, state.options.threads));
        SlabPass pass(state.setting(), std::exchange(state.slabs, {}), slots);
        add(result.times, state.run(pass, slots));
      }
      percolate::Slots slots = State::take_slots(column_pass_bytes(state.cuts, state.options.threads));
      ColumnPass pass(state.setting(), std::exchange(state.columns, {}), slots);
      add(result.times, state.run(pass, slots));
      state.slabs = pass.torn_slabs();
      state.columns = pass.torn_columns();
      result.bricks_torn += pass.torn_bricks();
    }
    state.output.sync();
  });
  state.driver->complete(state.resume_key());
  result.times.total_s = state.driver->elapsed_s();
  return result;
}

}  // namespace penstock::fft
