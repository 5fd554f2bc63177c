// From paths to a plan, from a plan to a run: files, journal, tiling, scratch, in the order in which each can refuse.
#include "penstock/gemm/out_of_core.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gemm/figures.hpp"
#include "penstock/gemm/file_inputs.hpp"
#include "penstock/gemm/journal.hpp"
#include "penstock/gemm/tile_program.hpp"
#include "penstock/gemm/tiling.hpp"
#include "penstock/model/model.hpp"

namespace penstock::gemm {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string describe(const Tiling& tiling) {
  return fmt::format("{} {} {} {}", tiling.tile_m, tiling.tile_n, tiling.strip, tiling.depth);
}

Tiling parse_tiling(const std::string& text) {
  long long tile_m = 0;
  long long tile_n = 0;
  long long strip = 0;
  long long depth = 0;
  if (std::sscanf(text.c_str(), "%lld %lld %lld %lld", &tile_m, &tile_n, &strip, &depth) != 4 || tile_m < 1 ||
      tile_n < 1 || strip < 1 || depth < 1) {
    return {};
  }
  return {.tile_m = tile_m, .tile_n = tile_n, .strip = strip, .depth = depth};
}

}  // namespace

struct FileMultiply::State {
  FileProduct product;
  FileOptions options;
  FilePlan plan;
  FileInputs inputs;
  npy::Header c_header;
  std::optional<Journal> journal;
  std::unique_ptr<percolate::Engine> own_engine;
  Product shape;
  Tiling tiling;
  FileMatrix c;  // that is written
  std::optional<File> scratch_a;
  std::optional<File> scratch_b;
  std::optional<percolate::Slots> slots;
  std::unique_ptr<TileProgram> program;

  std::string part_path() const { return Draft::part_path(product.c); }
  std::string journal_path() const { return product.c + ".journal"; }
  std::string how_to_begin_anew() const {
    return fmt::format("remove '{}' and '{}' to begin anew", part_path(), journal_path());
  }
  percolate::Engine& engine() { return options.engine != nullptr ? *options.engine : *own_engine; }

  Facts facts() const { return inputs.facts(product); }
  bool find_complete();
  bool find_begun();
  void choose(bool goes_on);
  void open_part(bool goes_on);
  void check_tiles();
  void open_scratch();
  bool keep(std::optional<File>& scratch, std::int64_t bytes) const;
  void take_figures(const machine::Machine& machine);
  void check_inputs() const;
};

/// Whether an earlier run ended between the renaming of C and the removal of its journal.
bool FileMultiply::State::find_complete() {
  if (!journal->is_complete() || fs::exists(part_path()) || !fs::exists(product.c)) {
    return false;
  }
  for (const auto& [key, text] : facts()) {
    // C itself is not what it was before.
    if (key != "c" && journal->fact(key) != text) {
      return false;
    }
  }
  return true;
}

/// Whether there is a run to go on with. Throws Error where there is one of something else.
bool FileMultiply::State::find_begun() {
  if (!journal->has_begun() || !fs::exists(part_path())) {
    return false;
  }
  for (const auto& [key, text] : facts()) {
    if (journal->fact(key) == text) {
      continue;
    }
    if (key == "product") {
      throw Error(fmt::format("'{}' tells of another product ({}): finish that, or {}", journal_path(),
                              journal->fact(key), how_to_begin_anew()));
    }
    const std::string path = key == "a" ? product.a : key == "b" ? product.b : product.c;
    throw Error(fmt::format("'{}' is not as it was when this product was begun: {}", path, how_to_begin_anew()));
  }
  return true;
}

void FileMultiply::State::choose(bool goes_on) {
  const int threads = options.threads;
  if (!options.engine) {
    own_engine = percolate::make_engine();
  }
  plan.engine = engine().name();
  const machine::Machine machine =
      options.machine ? *options.machine : measure_machine(threads, folder_of(product.c), engine());
  const std::int64_t left = options.memory_bytes - options.besides_bytes;
  take_figures(machine);
  // Not the figures of the prediction: with these, which are never twice the same where they are measured, the tiling
  // and so the roundings would change from run to run. Two cores of a Zen 4 server, 2026-11.
  const TilingFigures figures{
      .threads = threads, .rate_flops = 54e9 * threads, .storage_bytes_per_s = 1e9, .copy_bytes_per_s = 2e9 * threads};
  if (goes_on) {
    tiling = parse_tiling(journal->fact("tiling"));
    if (const std::int64_t needed = tiling_bytes(shape, tiling, threads); needed > left + options.memory_bytes / 32) {
      throw Error(fmt::format(
          "the product was begun with tiles that take {} with {} threads: give at least that, or {}",
          format_bytes(static_cast<std::uint64_t>(needed + options.besides_bytes)), threads, how_to_begin_anew()));
    }
  } else {
    tiling = choose_tiling(shape, figures, left, options.besides_bytes);
  }
  plan.tile_m = tiling.tile_m;
  plan.tile_n = tiling.tile_n;
  plan.strip = tiling.strip;
  plan.depth = tiling.depth;
  plan.block_bytes = tiling_bytes(shape, tiling, threads);
  plan.tiles = ceiling(shape.m, tiling.tile_m) * ceiling(shape.n, tiling.tile_n);
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  plan.predicted_s = model::tiled_time(machine, {.m = m,
                                                 .n = n,
                                                 .k = k,
                                                 .word_bytes = shape.element_bytes,
                                                 .flops = flops(plan.type, m, n, k),
                                                 .rate_flops = plan.rate_flops,
                                                 .tile_m = static_cast<double>(tiling.tile_m),
                                                 .tile_n = static_cast<double>(tiling.tile_n),
                                                 .depth = static_cast<double>(tiling.depth)})
                         .total_s;
}

void FileMultiply::State::take_figures(const machine::Machine& machine) {
  plan.rate_flops = rate_flops(machine, options.threads, plan.type);
  for (const machine::MemoryLevel& level : machine.node.memory_levels) {
    if (level.name == "storage") {
      plan.storage_bytes_per_s = level.bandwidth_bytes_per_s;
    }
  }
  if (!(plan.rate_flops > 0) || !(plan.storage_bytes_per_s > 0)) {
    throw Error(fmt::format("{} has no GEMM rate or no memory level 'storage': leave it out, and both are measured",
                            machine.name));
  }
}

void FileMultiply::State::open_part(bool goes_on) {
  const std::string text = npy::header_text(product.c, c_header);
  c_header.data_offset = std::ssize(text);
  const std::int64_t bytes = c_header.data_offset + c_header.data_bytes();
  File file = goes_on ? File::open_for_writing(part_path()) : File::create(part_path());
  try {
    if (!goes_on || file.size() != bytes) {
      file.reserve(bytes);
      file.write(0, std::as_bytes(std::span(text)));
    }
    if (!goes_on) {
      auto all = facts();
      all.emplace_back("tiling", describe(tiling));
      journal->begin(all);
    }
  } catch (...) {
    if (!goes_on) {  // nothing was done that could be kept
      unlink(part_path().c_str());
      journal->remove();
    }
    throw;
  }
  c = FileMatrix(std::move(file), c_header, Op::none);
  if (inputs.is_turned) {
    c.turn();
  }
}

/// A scratch file of so many bytes, or none where there is no room for it.
bool FileMultiply::State::keep(std::optional<File>& scratch, std::int64_t bytes) const {
  try {
    scratch.emplace(File::scratch(folder_of(product.c)));
    scratch->reserve(bytes);
    return true;
  } catch (const Error&) {
    scratch.reset();  // the blocks are then read from the matrices' files again, in short runs
    return false;
  }
}

void FileMultiply::State::open_scratch() {
  if (!options.uses_scratch) {
    return;
  }
  const std::int64_t a_bytes = TileProgram::scratch_a_bytes(shape, tiling);
  const std::int64_t b_bytes = TileProgram::scratch_b_bytes(shape, tiling);
  if (shape.n > tiling.tile_n && keep(scratch_a, a_bytes)) {
    plan.scratch_bytes += a_bytes;
  }
  if (shape.m > tiling.tile_m && keep(scratch_b, b_bytes)) {
    plan.scratch_bytes += b_bytes;
  }
}

/// Trusts no tile of an earlier run whose elements are not what it wrote.
void FileMultiply::State::check_tiles() {
  slots.emplace(std::vector<percolate::Level>{{"memory", static_cast<std::size_t>(plan.block_bytes)}});
  const auto make_program = [&] {
    program = std::make_unique<TileProgram>(TileFiles{.a = &inputs.a,
                                                      .b = &inputs.b,
                                                      .c = &c,
                                                      .c_before = inputs.c_before ? &*inputs.c_before : nullptr,
                                                      .scratch_a = scratch_a ? &*scratch_a : nullptr,
                                                      .scratch_b = scratch_b ? &*scratch_b : nullptr},
                                            tiling, product.scalars, options.threads, *slots, *journal);
  };
  make_program();
  std::vector<std::pair<Journal::Tile, std::uint64_t>> whole;
  for (const auto& [tile, sum] : journal->tiles()) {
    const bool is_one = tile.first >= 0 && tile.first < ceiling(shape.m, tiling.tile_m) && tile.second >= 0 &&
                        tile.second < ceiling(shape.n, tiling.tile_n);
    if (is_one && program->checksum_in_file(tile, *slots) == sum) {
      whole.emplace_back(tile, sum);
    }
  }
  plan.tiles_found = std::ssize(whole);
  plan.tiles_torn = static_cast<std::int64_t>(journal->tiles().size()) - plan.tiles_found;
  if (plan.tiles_torn > 0) {
    auto all = facts();
    all.emplace_back("tiling", describe(tiling));
    journal->begin(all);
    for (const auto& [tile, sum] : whole) {
      journal->add_tile(tile, sum);
    }
    program.reset();
    slots.reset();
    slots.emplace(std::vector<percolate::Level>{{"memory", static_cast<std::size_t>(plan.block_bytes)}});
    make_program();
  }
  if (plan.tiles > 0) {
    plan.predicted_s *= 1 - static_cast<double>(plan.tiles_found) / static_cast<double>(plan.tiles);
  }
}

/// Throws Error where an input is not what it was when the plan was made.
void FileMultiply::State::check_inputs() const {
  for (const auto& [key, text] : facts()) {
    if (journal->fact(key) != text) {
      throw Error(fmt::format("'{}' has changed while it was multiplied: {}",
                              key == "a"   ? product.a
                              : key == "b" ? product.b
                                           : product.c,
                              how_to_begin_anew()));
    }
  }
}

FileMultiply::FileMultiply(const FileProduct& product, const FileOptions& options) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.product = product;
  state.options = options;
  if (options.threads < 1) {
    throw Error(fmt::format("a multiply on {} threads: at least 1 is needed", options.threads));
  }
  const bool had_journal = fs::exists(state.journal_path());
  state.inputs = FileInputs(product);
  state.c_header = state.inputs.c_header;
  state.shape = state.inputs.product();
  state.plan.type = state.inputs.a.type();
  state.plan.m = state.c_header.shape[0];
  state.plan.n = state.c_header.shape[1];
  state.plan.k = state.shape.k;
  state.journal.emplace(state.journal_path());
  try {
    if (state.find_complete()) {
      state.plan.was_complete = true;
      return;
    }
    const bool goes_on = state.find_begun();
    state.choose(goes_on);
    state.open_part(goes_on);
    state.open_scratch();
    state.check_tiles();
  } catch (...) {
    if (!had_journal && !fs::exists(state.part_path())) {
      state.journal->remove();
    }
    throw;
  }
}

FileMultiply::~FileMultiply() = default;

const FilePlan& FileMultiply::plan() const noexcept {
  return state_->plan;
}

FileResult FileMultiply::run() {
  State& state = *state_;
  FileResult result;
  if (state.plan.was_complete) {
    state.journal->remove();
    return result;
  }
  const SerialBlas serial;
  TileProgram& program = *state.program;
  const double begin_s = seconds();
  double last_s = begin_s;
  // Called under the run's lock, so that progress is told by one thread at a time.
  const percolate::Program next = [&] {
    constexpr double pause_s = 0.2;
    if (const double now_s = seconds(); state.options.progress && now_s - last_s > pause_s) {
      last_s = now_s;
      state.options.progress(
          {.done_flops = program.done_flops(), .total_flops = program.total_flops(), .elapsed_s = now_s - begin_s});
    }
    return program.next();
  };
  // As many parcels as reach into the panel after the next.
  const std::int64_t window = 4 * ceiling(state.tiling.tile_m, state.tiling.strip) + 16;
  try {
    result.times = percolate::run(
        *state.slots, state.engine(), next,
        {.workers = state.options.threads, .window = static_cast<int>(window), .trace = state.options.trace});
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}; the tiles of C that are complete are kept, and the next run goes on with them", error.what()));
  }
  state.check_inputs();
  state.journal->complete();
  if (std::rename(state.part_path().c_str(), state.product.c.c_str()) != 0) {
    throw_system_error(fmt::format("cannot write '{}'", state.product.c), errno);
  }
  state.journal->remove();
  result.flops = program.total_flops();
  return result;
}

}  // namespace penstock::gemm
