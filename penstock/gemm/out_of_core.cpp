// From paths to a plan, from a plan to a run: files, journal, tiling, scratch, in the order in which each can refuse.
#include "penstock/gemm/out_of_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gemm/cannon_grid.hpp"
#include "penstock/gemm/file_inputs.hpp"
#include "penstock/gemm/rates.hpp"
#include "penstock/gemm/read_ahead.hpp"
#include "penstock/gemm/tile_program.hpp"
#include "penstock/journal/journal.hpp"
#include "penstock/model/model.hpp"
#include "penstock/outofcore/outofcore.hpp"

namespace penstock::gemm {

namespace {

std::string describe(const Tiling& tiling) {
  return fmt::format("{} {} {} {}", tiling.tile_m, tiling.tile_n, tiling.strip, tiling.depth);
}

/// What `describe` has written; none where it is something else.
std::optional<Tiling> parse_tiling(const std::string& text) {
  long long tile_m = 0;
  long long tile_n = 0;
  long long strip = 0;
  long long depth = 0;
  if (std::sscanf(text.c_str(), "%lld %lld %lld %lld", &tile_m, &tile_n, &strip, &depth) != 4) {
    return std::nullopt;
  }
  return Tiling{.tile_m = tile_m, .tile_n = tile_n, .strip = strip, .depth = depth};
}

/// Whether a choice for the product can have been this one.
bool fits(const Tiling& tiling, const model::Product& product) {
  const auto is_part = [](std::int64_t length, std::int64_t extent) {
    return length >= 1 && length <= std::max<std::int64_t>(extent, 1);
  };
  return is_part(tiling.strip, product.m) && is_part(tiling.tile_n, product.n) && is_part(tiling.depth, product.k) &&
         tiling.tile_m >= tiling.strip && tiling.tile_m % tiling.strip == 0 &&
         tiling.tile_m < std::max<std::int64_t>(product.m, 1) + tiling.strip;
}

}  // namespace

struct FileMultiply::State {
  FileProduct product;
  FileOptions options;
  FilePlan plan;
  FileInputs inputs;
  npy::Header c_header;
  machine::Machine machine;  // by whose figures the time is predicted
  std::optional<outofcore::Driver> driver;
  model::Product shape;
  Tiling tiling;
  FileMatrix c;  // that is written
  std::optional<File> scratch_a;
  std::optional<File> scratch_b;
  std::optional<percolate::Slots> slots;
  std::unique_ptr<TileProgram> program;

  journal::ResumeKey resume_key() const { return inputs.resume_key(product, options.verifies_input); }
  Tiling begun_tiling();
  std::int64_t taken_besides() const;
  void choose(bool goes_on);
  void open_part(bool goes_on);
  void check_tiles();
  void open_scratch();
  bool keep(std::optional<File>& scratch, std::int64_t bytes) const;
  void take_figures();
  void measure_inputs();
  void predict();
};

Tiling FileMultiply::State::begun_tiling() {
  const std::optional<Tiling> begun = parse_tiling(driver->result().journal().fact("tiling"));
  if (!begun || !fits(*begun, shape)) {
    throw driver->foreign_tiling();
  }
  return *begun;
}

/// What of the memory is for other things than blocks. Of a process that is looked at when all threads have multiplied
/// blocks of the tiling at once, so that it has all that code, threads and OpenBLAS take.
std::int64_t FileMultiply::State::taken_besides() const {
  const std::int64_t width = npy::element_bytes(plan.type);
  const std::int64_t rows = std::min(tiling.strip, shape.m);
  const auto block = [&](std::int64_t height, std::int64_t length) {
    return Memory(static_cast<std::size_t>(height * length * width));
  };
  {
    const SerialBlas serial(options.threads);
    const Memory a = block(rows, tiling.depth);
    const Memory b = block(tiling.depth, tiling.tile_n);
    std::vector<Memory> products;
    for (int i = 0; i < options.threads; ++i) {
      products.push_back(block(rows, tiling.tile_n));
    }
    // Threads that multiply one after another would share what OpenBLAS has for each that multiplies.
    std::barrier together(options.threads);
    ThreadPool(options.threads).run([&](int i) {
      together.arrive_and_wait();
      multiply(plan.type, rows, tiling.tile_n, tiling.depth, {}, {.data = a.data(), .leading = tiling.depth},
               {.data = b.data(), .leading = tiling.tile_n}, products[static_cast<std::size_t>(i)].data(),
               tiling.tile_n);
    });
  }
  return driver->reserved_bytes();
}

void FileMultiply::State::choose(bool goes_on) {
  const int threads = options.threads;
  plan.engine = driver->engine().name();
  const std::int64_t had_bytes = options.counts_process ? resident_bytes() + threads * blas_bytes_per_thread : 0;
  machine = options.machine
                ? *options.machine
                : measure_machine(threads, folder_of(product.c), driver->engine(), driver->measuring_bytes(had_bytes));
  take_figures();
  const auto choose_beside = [&](std::int64_t reserved_bytes) {
    if (!goes_on) {
      tiling = choose_tiling(shape, model::usual_tiling_rates(threads), options.memory_bytes - reserved_bytes,
                             reserved_bytes);
    }
  };
  if (goes_on) {
    tiling = begun_tiling();
  }
  choose_beside(had_bytes);
  if (options.counts_process) {
    // Larger blocks take more of OpenBLAS's memory, and more of that leaves room for smaller blocks.
    for (std::optional<Tiling> looked; looked != tiling;) {
      looked = tiling;
      plan.reserved_bytes = std::max(plan.reserved_bytes, taken_besides());
      choose_beside(plan.reserved_bytes);
    }
  }
  plan.block_bytes = tiling_bytes(shape, tiling, threads);
  driver->check_begun(plan.block_bytes, plan.reserved_bytes, "tiles");
  plan.tile_m = tiling.tile_m;
  plan.tile_n = tiling.tile_n;
  plan.strip = tiling.strip;
  plan.depth = tiling.depth;
  const std::uint64_t available = available_memory_bytes();
  plan.layers_ahead =
      layers_ahead(shape, tiling, available - std::min(available, static_cast<std::uint64_t>(plan.block_bytes)));
  if (options.measures_inputs || !options.machine) {
    measure_inputs();
  }
  plan.tiles = divide_up(shape.m, tiling.tile_m) * divide_up(shape.n, tiling.tile_n);
}

/// What the run begins with, of as many lines as a strip has: in what runs the blocks lie decides how fast they come.
void FileMultiply::State::measure_inputs() {
  const std::int64_t depth = std::min(std::max<std::int64_t>(plan.layers_ahead, 1) * tiling.depth, shape.k);
  const auto rate = [&](const FileMatrix& matrix, const Submatrix& first, std::int64_t rows, std::int64_t columns) {
    const std::int64_t parts = divide_up(lines_of(matrix, first), tiling.strip);
    return rate_of_blocks(driver->engine(), matrix, part_of(matrix, first, 0, std::max<std::int64_t>(parts, 1)), rows,
                          columns, plan.layers_ahead > 0);
  };
  plan.first_a_bytes_per_s =
      rate(inputs.a, {.rows = std::min(tiling.tile_m, shape.m), .columns = depth}, tiling.strip, tiling.depth);
  plan.first_b_bytes_per_s =
      rate(inputs.b, {.rows = depth, .columns = std::min(tiling.tile_n, shape.n)}, tiling.depth, tiling.tile_n);
}

/// Of the whole product; what was complete before does not count.
void FileMultiply::State::predict() {
  const model::TiledRun run{.product = shape,
                            .tiling = tiling,
                            .flops = flops(plan.type, static_cast<double>(shape.m), static_cast<double>(shape.n),
                                           static_cast<double>(shape.k)),
                            .rate_flops = plan.rate_flops,
                            .keeps_a = scratch_a.has_value(),
                            .keeps_b = scratch_b.has_value(),
                            .first_a_bytes_per_s = plan.first_a_bytes_per_s,
                            .first_b_bytes_per_s = plan.first_b_bytes_per_s};
  const double whole =
      plan.tiles > 0 ? static_cast<double>(plan.tiles - plan.tiles_found) / static_cast<double>(plan.tiles) : 0;
  plan.predicted_s = model::tiled_time(machine, run).total_s * whole;
  plan.percolation_s = model::percolation_time(machine, run, options.threads,
                                               static_cast<double>(options.memory_bytes - plan.reserved_bytes)) *
                       whole;
}

void FileMultiply::State::take_figures() {
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
  File file = driver->result().open(goes_on ? journal::ResumeState::goes_on : journal::ResumeState::anew, resume_key(),
                                    describe(tiling), text, bytes);
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
    program =
        std::make_unique<TileProgram>(TileFiles{.a = &inputs.a,
                                                .b = &inputs.b,
                                                .c = &c,
                                                .c_before = inputs.c_before ? &*inputs.c_before : nullptr,
                                                .scratch_a = scratch_a ? &*scratch_a : nullptr,
                                                .scratch_b = scratch_b ? &*scratch_b : nullptr,
                                                .layers_ahead = plan.layers_ahead},
                                      tiling, product.scalars, options.threads, *slots, driver->result().journal());
  };
  make_program();
  const journal::Journal::Pieces told = driver->result().journal().pieces(TileProgram::piece);
  for (const auto& [number, sum] : told) {
    if (number < 0 || number >= plan.tiles || program->checksum_in_file(number, *slots) != sum) {
      driver->result().journal().forget(TileProgram::piece, number);
      ++plan.tiles_torn;
    }
  }
  plan.tiles_found = static_cast<std::int64_t>(told.size()) - plan.tiles_torn;
  if (plan.tiles_torn > 0) {
    program.reset();
    slots.reset();
    slots.emplace(std::vector<percolate::Level>{{"memory", static_cast<std::size_t>(plan.block_bytes)}});
    make_program();
  }
}

FileMultiply::FileMultiply(const FileProduct& product, const FileOptions& options) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.product = product;
  state.options = options;
  state.inputs = FileInputs(product);
  state.c_header = state.inputs.c_header;
  state.shape = state.inputs.product();
  state.plan.type = state.inputs.a.type();
  state.plan.m = state.c_header.shape[0];
  state.plan.n = state.c_header.shape[1];
  state.plan.k = state.shape.k;
  state.driver.emplace(options, "product", product.c);
  const journal::ResumeState resume_state = state.driver->result().find(state.resume_key());
  if (resume_state == journal::ResumeState::complete) {
    state.plan.was_complete = true;
    return;
  }
  const bool goes_on = resume_state == journal::ResumeState::goes_on;
  state.choose(goes_on);
  state.open_part(goes_on);
  state.open_scratch();
  state.check_tiles();
  state.predict();
}

FileMultiply::~FileMultiply() = default;

const FilePlan& FileMultiply::plan() const noexcept {
  return state_->plan;
}

FileResult FileMultiply::run() {
  State& state = *state_;
  FileResult result;
  if (state.plan.was_complete) {
    state.driver->result().clear();
    return result;
  }
  const SerialBlas serial(state.options.threads);
  TileProgram& program = *state.program;
  // As many parcels as reach into the panel after the next; one more for each of them asks for what comes later.
  const std::int64_t window = 4 * (divide_up(state.tiling.tile_m, state.tiling.strip) + 1) + 16;
  state.driver->make([&] {
    result.times = state.driver->run(
        *state.slots, [&] { return program.next(); }, static_cast<int>(window),
        [&] { return outofcore::Done{.done = program.done_flops(), .total = program.total_flops()}; });
  });
  state.driver->complete(state.resume_key());
  result.flops = program.total_flops();
  return result;
}

}  // namespace penstock::gemm
