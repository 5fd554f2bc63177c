// A product on a device: panels and tiles in slots, three streams, and the events by which they wait for one another.
#include "penstock/gemm/device_multiply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/device/device.hpp"
#include "penstock/gemm/device_tiling.hpp"
#include "penstock/gemm/range.hpp"

namespace penstock::gemm {
namespace {

using device::Location;
using device::Rows;
using SharedEvent = std::shared_ptr<const device::Event>;

std::uint64_t count(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number);
}

/// The device memory that a product takes where its user does not say.
std::uint64_t usual_memory_bytes(const device::Device& device) {
  const std::uint64_t available = device.available_bytes();
  const std::uint64_t spared = available - available / 16;
  return device.properties().is_host ? std::min(spared, available_memory_bytes() / 2) : spared;
}

/// A matrix in host memory, as it is stored: with op, which is none or the transpose.
struct HostMatrix {
  const std::byte* data;
  std::int64_t leading;
  bool is_transposed;

  /// The bytes of the matrix of which op has `rows` x `columns` elements, from the first to the last.
  std::span<std::byte> bytes(std::int64_t rows, std::int64_t columns, std::int64_t real_bytes) const noexcept {
    const auto [stored_rows, stored_columns] = is_transposed ? std::pair(columns, rows) : std::pair(rows, columns);
    // Devices pin memory that may be written; nothing is written to that of a factor.
    return {const_cast<std::byte*>(data), count(((stored_rows - 1) * leading + stored_columns) * real_bytes)};
  }
};

/// A panel in device memory. Events are null where nothing is under way.
struct PanelSlot {
  std::unique_ptr<device::Memory> memory;
  std::int64_t panel = -1;    // the number of the panel in it; -1: none
  std::int64_t used_in = -1;  // the last step that used it
  SharedEvent is_there{};
  SharedEvent is_read{};
};

/// A tile of C in device memory.
struct TileSlot {
  std::unique_ptr<device::Memory> memory;
  SharedEvent is_there{};
  std::vector<SharedEvent> has_left{};  // by piece of the tile that was there before
};

/// Memory of the process that is to be pinned, without parts that are named twice: pages are pinned as a whole.
std::vector<std::span<std::byte>> joined(std::vector<std::span<std::byte>> all) {
  std::ranges::sort(all, {}, [](const auto& memory) { return memory.data(); });
  const auto page_of = [](const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) / small_page_bytes; };
  std::vector<std::span<std::byte>> joined;
  for (const std::span<std::byte> memory : all) {
    if (joined.empty() || page_of(memory.data()) > page_of(joined.back().data() + joined.back().size() - 1)) {
      joined.push_back(memory);
      continue;
    }
    std::byte* const end = std::max(joined.back().data() + joined.back().size(), memory.data() + memory.size());
    joined.back() = {joined.back().data(), static_cast<std::size_t>(end - joined.back().data())};
  }
  return joined;
}

}  // namespace

/// A product's plan, and what it has of the device.
class DeviceMultiplyState {
 public:
  std::shared_ptr<const device::Device> device;
  DeviceProduct product;
  percolate::ProgressCallback progress;
  DeviceMultiplyPlan plan{};
  DeviceProblem problem{};
  std::unique_ptr<device::Stream> compute{};
  std::unique_ptr<device::Stream> to_device{};
  std::unique_ptr<device::Stream> to_host{};
  std::unique_ptr<device::Blas> blas{};  // ends before the stream that it was given
  std::vector<PanelSlot> slots_a{};
  std::vector<PanelSlot> slots_b{};
  std::vector<TileSlot> slots_c{};

  bool is_empty() const noexcept { return product.m == 0 || product.n == 0; }
  /// Whether C = beta C is all that is to be done.
  bool is_scaling() const noexcept { return product.k == 0 || product.scalars.alpha.real() == 0; }

  void choose(const DeviceOptions& options);
  void take_memory();
  /// Slots hold nothing of an earlier run.
  void forget() noexcept;
  /// Waits for the device, whatever becomes of its work.
  void finish() const noexcept;
};

namespace {

/// One run of a product.
class DeviceRun {
 public:
  DeviceRun(DeviceMultiplyState& state, const HostMatrix& a, const HostMatrix& b, std::byte* c, std::int64_t leading_c)
      : state_(state),
        tiling_(state.plan.tiling),
        walk_(state.problem, state.plan.tiling),
        a_(a),
        b_(b),
        c_(c),
        leading_c_(leading_c) {}

  /// Enqueues step after step, a few before the device is there. Panels arrive while steps before theirs multiply.
  void run(DeviceResult& result) {
    std::deque<SharedEvent> ahead;
    std::int64_t done = 0;
    const auto wait_until_ahead = [&](std::int64_t steps) {
      while (std::ssize(ahead) > steps) {
        {
          const trace::Span span("wait for device", trace::Category::wait);
          ahead.front()->wait();
        }
        ahead.pop_front();
        tell(++done);
      }
    };
    bring_tile(walk_.step(0), 0, walk_.layers());
    const std::int64_t panels_ahead = this->panels_ahead();
    for (std::int64_t index = 0; index < std::min(panels_ahead, walk_.steps()); ++index) {
      bring_panels(index);
    }
    for (std::int64_t index = 0; index < walk_.steps(); ++index) {
      wait_until_ahead(steps_ahead);
      const DeviceStep step = walk_.step(index);
      if (index + panels_ahead < walk_.steps()) {
        bring_panels(index + panels_ahead);
      }
      if (step.tile + 1 < walk_.tiles()) {
        bring_tile(walk_.step((step.tile + 1) * walk_.layers()), step.number, step.number + 1);
      }
      multiply(step);
      ahead.push_back(slot_a(step).is_read);
      if (step.number + 1 == walk_.layers()) {
        send_tile(step, ahead.back());
      }
    }
    wait_until_ahead(0);
    state_.to_host->finish();
    result.to_device_bytes = to_device_bytes_;
    result.to_host_bytes = to_host_bytes_;
  }

 private:
  static constexpr std::int64_t steps_ahead = 4;

  /// How many steps before their use panels are brought: as many as there are slots besides that of the step, so that
  /// no panel makes room that is still to be used.
  std::int64_t panels_ahead() const {
    const auto of = [&](std::int64_t slots, std::int64_t panels) { return slots == panels ? steps_ahead : slots - 1; };
    return std::min({steps_ahead, of(tiling_.slots_a, walk_.rows() * walk_.layers()),
                     of(tiling_.slots_b, walk_.columns() * walk_.layers())});
  }

  Range rows_of(const DeviceStep& step) const { return block_of({0, state_.problem.m}, tiling_.tile_m, step.row); }
  Range columns_of(const DeviceStep& step) const {
    return block_of({0, state_.problem.n}, tiling_.tile_n, step.column);
  }
  Range depth_of(const DeviceStep& step) const { return block_of({0, state_.problem.k}, tiling_.depth, step.layer); }
  std::int64_t panel_a(const DeviceStep& step) const { return step.row * walk_.layers() + step.layer; }
  std::int64_t panel_b(const DeviceStep& step) const { return step.column * walk_.layers() + step.layer; }
  PanelSlot& slot_a(const DeviceStep& step) { return *find(state_.slots_a, panel_a(step)); }
  PanelSlot& slot_b(const DeviceStep& step) { return *find(state_.slots_b, panel_b(step)); }
  TileSlot& slot_c(const DeviceStep& step) { return state_.slots_c[count(step.tile) % state_.slots_c.size()]; }

  static PanelSlot* find(std::vector<PanelSlot>& slots, std::int64_t panel) {
    const auto found = std::ranges::find(slots, panel, &PanelSlot::panel);
    return found == slots.end() ? nullptr : &*found;
  }

  /// The part of a tile's rows that leaves, and arrives, with step `number` of a tile.
  Range piece_of(const Range& rows, std::int64_t number) const {
    return block_of(rows, (tiling_.tile_m + walk_.layers() - 1) / walk_.layers(), number);
  }

  /// The distances of rows in device memory; those of a factor are of what is stored.
  std::int64_t device_leading(const HostMatrix& matrix, std::int64_t rows, std::int64_t columns) const {
    return padded(matrix.is_transposed ? rows : columns);
  }
  std::int64_t device_leading_a() const { return device_leading(a_, tiling_.tile_m, tiling_.depth); }
  std::int64_t device_leading_b() const { return device_leading(b_, tiling_.depth, tiling_.tile_n); }
  std::int64_t device_leading_c() const { return padded(tiling_.tile_n); }

  Rows shape_of(const Range& rows, const Range& columns, std::int64_t host_leading, std::int64_t leading) const {
    const std::int64_t bytes = state_.problem.real_bytes;
    return {.row_bytes = count(columns.extent * bytes),
            .rows = count(rows.extent),
            .host_pitch = count(host_leading * bytes),
            .device_pitch = count(leading * bytes)};
  }

  /// Has the panels of a step on their way to slots, unless they are there.
  void bring_panels(std::int64_t index) {
    const DeviceStep step = walk_.step(index);
    bring_panel(state_.slots_a, panel_a(step), index, a_, rows_of(step), depth_of(step), device_leading_a());
    bring_panel(state_.slots_b, panel_b(step), index, b_, depth_of(step), columns_of(step), device_leading_b());
  }
  void bring_panel(std::vector<PanelSlot>& slots, std::int64_t panel, std::int64_t index, const HostMatrix& matrix,
                   const Range& rows, const Range& columns, std::int64_t leading) {
    PanelSlot* slot = find(slots, panel);
    if (slot == nullptr) {
      slot = &*std::ranges::min_element(slots, {}, &PanelSlot::used_in);
      if (slot->is_read != nullptr) {
        state_.to_device->wait(*slot->is_read);
      }
      slot->panel = panel;
      const auto [stored_rows, stored_columns] =
          matrix.is_transposed ? std::pair(columns, rows) : std::pair(rows, columns);
      const Rows shape = shape_of(stored_rows, stored_columns, matrix.leading, leading);
      state_.to_device->copy_to_device(slot->memory->location(),
                                       at(matrix.data, stored_rows.lower, stored_columns.lower, matrix.leading), shape);
      slot->is_there = state_.to_device->record();
      to_device_bytes_ += shape.row_bytes * shape.rows;
    }
    slot->used_in = index;
  }

  /// Has pieces of a tile of C on their way, each after the piece that has left its place.
  void bring_tile(const DeviceStep& step, std::int64_t first_piece, std::int64_t end_piece) {
    TileSlot& slot = slot_c(step);
    const Range rows = rows_of(step);
    const Range columns = columns_of(step);
    if (!state_.problem.reads_c) {
      slot.is_there = slot.has_left.empty() ? nullptr : slot.has_left.back();
      return;
    }
    for (std::int64_t number = first_piece; number < end_piece; ++number) {
      const Range piece = piece_of(rows, number);
      if (!slot.has_left.empty()) {
        state_.to_device->wait(*slot.has_left[count(number)]);
      }
      if (piece.extent > 0) {
        const Rows shape = shape_of(piece, columns, leading_c_, device_leading_c());
        state_.to_device->copy_to_device(
            slot.memory->location() + count((piece.lower - rows.lower) * device_leading_c()) * real_bytes(),
            at(c_, piece.lower, columns.lower, leading_c_), shape);
        to_device_bytes_ += shape.row_bytes * shape.rows;
      }
    }
    if (end_piece == walk_.layers()) {
      slot.is_there = state_.to_device->record();
    }
  }

  void multiply(const DeviceStep& step) {
    PanelSlot& a = slot_a(step);
    PanelSlot& b = slot_b(step);
    TileSlot& c = slot_c(step);
    state_.compute->wait(*a.is_there);
    state_.compute->wait(*b.is_there);
    if (step.number == 0 && c.is_there != nullptr) {
      state_.compute->wait(*c.is_there);
    }
    state_.compute->multiply(*state_.blas, {.m = rows_of(step).extent,
                                            .n = columns_of(step).extent,
                                            .k = depth_of(step).extent,
                                            .real_bytes = state_.problem.real_bytes,
                                            .alpha = state_.product.scalars.alpha.real(),
                                            .beta = step.number == 0 ? state_.product.scalars.beta.real() : 1,
                                            .a = {a.memory->location(), device_leading_a(), a_.is_transposed},
                                            .b = {b.memory->location(), device_leading_b(), b_.is_transposed},
                                            .c = c.memory->location(),
                                            .leading_c = device_leading_c()});
    a.is_read = b.is_read = state_.compute->record();
  }

  void send_tile(const DeviceStep& step, const SharedEvent& is_multiplied) {
    TileSlot& slot = slot_c(step);
    const Range rows = rows_of(step);
    const Range columns = columns_of(step);
    state_.to_host->wait(*is_multiplied);
    slot.has_left.clear();
    for (std::int64_t number = 0; number < walk_.layers(); ++number) {
      const Range piece = piece_of(rows, number);
      if (piece.extent > 0) {
        const Rows shape = shape_of(piece, columns, leading_c_, device_leading_c());
        state_.to_host->copy_to_host(
            at(c_, piece.lower, columns.lower, leading_c_),
            slot.memory->location() + count((piece.lower - rows.lower) * device_leading_c()) * real_bytes(), shape);
        to_host_bytes_ += shape.row_bytes * shape.rows;
      }
      slot.has_left.push_back(state_.to_host->record());
    }
  }

  /// Reports progress, at most five times a second and at the end.
  void tell(std::int64_t done) {
    constexpr double pause_s = 0.2;
    if (state_.progress && (seconds() - told_s_ >= pause_s || done == walk_.steps())) {
      told_s_ = seconds();
      const double all = flops(state_.product.type, static_cast<double>(state_.problem.m),
                               static_cast<double>(state_.problem.n), static_cast<double>(state_.problem.k));
      state_.progress({.done = all * static_cast<double>(done) / static_cast<double>(walk_.steps()),
                       .total = all,
                       .elapsed_s = told_s_ - begin_s_});
    }
  }

  std::uint64_t real_bytes() const noexcept { return count(state_.problem.real_bytes); }
  template <class Byte>
  Byte* at(Byte* data, std::int64_t row, std::int64_t column, std::int64_t leading) const noexcept {
    return data + (row * leading + column) * state_.problem.real_bytes;
  }

  DeviceMultiplyState& state_;
  const DeviceTiling& tiling_;
  DeviceWalk walk_;
  HostMatrix a_;
  HostMatrix b_;
  std::byte* c_;
  std::int64_t leading_c_;
  std::uint64_t to_device_bytes_ = 0;
  std::uint64_t to_host_bytes_ = 0;
  double begin_s_ = seconds();
  double told_s_ = 0;
};

/// Throws Error where rows of `columns` elements do not fit between the beginnings of rows.
void check_leading(const char* name, std::int64_t leading, std::int64_t columns) {
  if (leading < columns) {
    throw Error(fmt::format("the rows of {} begin {} elements apart, and have {}", name, leading, columns));
  }
}

}  // namespace

void DeviceMultiplyState::choose(const DeviceOptions& options) {
  blas = device->open_blas();  // takes memory of the device
  const std::uint64_t memory_bytes = options.memory_bytes > 0 ? options.memory_bytes : usual_memory_bytes(*device);
  problem = {.m = product.m,
             .n = product.n,
             .k = product.k,
             .real_bytes = npy::element_bytes(product.type),
             .reads_c = product.scalars.beta.real() != 0,
             .copies_matrices = blas->copies_matrices(),
             .compute_units = device->properties().compute_units,
             .block_bytes = device->properties().allocation_bytes,
             .memory_bytes = memory_bytes};
  plan = choose_device_tiling(problem,
                              options.rates ? *options.rates : measure_device(*device, product.type, memory_bytes));
  plan.library = blas->name();
}

void DeviceMultiplyState::take_memory() {
  const DeviceTiling& tiling = plan.tiling;
  const auto take = [&](auto& slots, std::int64_t number, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t i = 0; i < number; ++i) {
      slots.push_back({.memory = device->allocate(count(padded(rows) * padded(columns) * problem.real_bytes))});
    }
  };
  take(slots_a, tiling.slots_a, tiling.tile_m, tiling.depth);
  take(slots_b, tiling.slots_b, tiling.depth, tiling.tile_n);
  take(slots_c, tiling.slots_c, tiling.tile_m, tiling.tile_n);
  compute = device->make_stream();
  to_device = device->make_stream();
  to_host = device->make_stream();
}

void DeviceMultiplyState::forget() noexcept {
  for (std::vector<PanelSlot>* const slots : {&slots_a, &slots_b}) {
    for (PanelSlot& slot : *slots) {
      slot = {.memory = std::move(slot.memory)};
    }
  }
  for (TileSlot& slot : slots_c) {
    slot = {.memory = std::move(slot.memory)};
  }
}

void DeviceMultiplyState::finish() const noexcept {
  for (device::Stream* const stream : {compute.get(), to_device.get(), to_host.get()}) {
    try {
      stream->finish();
    } catch (const Error&) {
      continue;  // a device that has failed copies nothing
    }
  }
}

DeviceMultiply::DeviceMultiply(std::shared_ptr<const device::Device> device, const DeviceProduct& product,
                               const DeviceOptions& options)
    : state_(std::make_unique<DeviceMultiplyState>(
          DeviceMultiplyState{.device = std::move(device), .product = product, .progress = options.progress})) {
  if (state_->device == nullptr) {
    throw Error("a multiply on a device needs a device: see device::open");
  }
  check_device_type(*state_->device, product.type);
  if (product.m < 0 || product.n < 0 || product.k < 0) {
    throw Error(fmt::format("a product of {} x {} by {} x {}: extents are at least 0", product.m, product.k, product.k,
                            product.n));
  }
  if (!state_->is_empty() && !state_->is_scaling()) {
    state_->choose(options);
    state_->take_memory();
  }
}

DeviceMultiply::~DeviceMultiply() = default;

const DeviceMultiplyPlan& DeviceMultiply::plan() const noexcept {
  return state_->plan;
}

DeviceResult DeviceMultiply::run(const Block& a, const Block& b, std::byte* c, std::int64_t leading_c) {
  const DeviceProduct& product = state_->product;
  check_leading("A", a.leading, a.is_transposed ? product.m : product.k);
  check_leading("B", b.leading, b.is_transposed ? product.k : product.n);
  check_leading("C", leading_c, product.n);
  DeviceResult result;
  const double begin_s = seconds();
  if (state_->is_empty()) {
    return result;
  }
  if (state_->is_scaling()) {
    scale(product.type, product.m, product.n, product.scalars.beta, c, leading_c);
    result.total_s = seconds() - begin_s;
    return result;
  }
  const HostMatrix host_a{a.data, a.leading, a.is_transposed};
  const HostMatrix host_b{b.data, b.leading, b.is_transposed};
  const HostMatrix host_c{c, leading_c, false};
  const std::int64_t real_bytes = state_->problem.real_bytes;
  std::vector<std::unique_ptr<device::HostMemory>> pinned;
  for (const std::span<std::byte> memory :
       joined({host_a.bytes(product.m, product.k, real_bytes), host_b.bytes(product.k, product.n, real_bytes),
               host_c.bytes(product.m, product.n, real_bytes)})) {
    pinned.push_back(state_->device->pin(memory));
  }
  result.pin_s = seconds() - begin_s;
  state_->forget();
  try {
    DeviceRun(*state_, host_a, host_b, c, leading_c).run(result);
  } catch (...) {
    state_->finish();  // the matrices may be gone soon: what was to be copied there must not come later
    throw;
  }
  result.flops = flops(product.type, static_cast<double>(product.m), static_cast<double>(product.n),
                       static_cast<double>(product.k));
  result.total_s = seconds() - begin_s;
  return result;
}

}  // namespace penstock::gemm
