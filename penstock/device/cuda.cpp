// Devices by CUDA's driver, which is opened when devices are first asked for. The compiler of kernels and the BLAS are
// opened when they are first used.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/device/cuda_driver.hpp"
#include "penstock/device/interfaces.hpp"

namespace penstock::device {
namespace cuda {
namespace {

/// The functions of the driver by their names; nothing where the library, or one of them, is missing.
std::optional<Functions> open_driver() noexcept {
  void* const library = open_library({"libcuda.so.1"});
  if (library == nullptr) {
    return std::nullopt;
  }
  Functions functions{};
  bool has_all = true;
#define PENSTOCK_FIND(NAME, SYMBOL, PARAMETERS) has_all = find_function(library, functions.NAME, SYMBOL) && has_all;
  PENSTOCK_CUDA_FUNCTIONS(PENSTOCK_FIND)
#undef PENSTOCK_FIND
  return has_all && functions.init(0) == 0 ? std::optional(functions) : std::nullopt;
}

/// Nothing where the system has no such driver, or the driver no device.
const std::optional<Functions>& driver_or_none() noexcept {
  static const std::optional<Functions> functions = open_driver();
  return functions;
}

/// Only where a device has been found.
const Functions& driver() noexcept {
  return *driver_or_none();
}

std::optional<CompilerFunctions> open_compiler() noexcept {
  void* const library = open_library({"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                      "libnvrtc.so.11.1", "libnvrtc.so.11.0", "/usr/local/cuda/lib64/libnvrtc.so"});
  if (library == nullptr) {
    return std::nullopt;
  }
  CompilerFunctions functions{};
  bool has_all = true;
#define PENSTOCK_FIND(NAME, SYMBOL, PARAMETERS) has_all = find_function(library, functions.NAME, SYMBOL) && has_all;
  PENSTOCK_NVRTC_FUNCTIONS(PENSTOCK_FIND)
#undef PENSTOCK_FIND
  return has_all ? std::optional(functions) : std::nullopt;
}

/// Throws Error where the system does not have it.
const CompilerFunctions& compiler() {
  static const std::optional<CompilerFunctions> functions = open_compiler();
  if (!functions) {
    throw Error(
        "kernels cannot be compiled: CUDA's run-time compiler (libnvrtc.so) is not found; install it (Debian: "
        "libnvrtc11.2, CUDA: cuda-nvrtc), or let LD_LIBRARY_PATH name its folder");
  }
  return *functions;
}

std::optional<BlasFunctions> open_blas_library() noexcept {
  void* const library = open_library(
      {"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "/usr/local/cuda/lib64/libcublas.so"});
  if (library == nullptr) {
    return std::nullopt;
  }
  BlasFunctions functions{};
  bool has_all = true;
#define PENSTOCK_FIND(NAME, SYMBOL, PARAMETERS) has_all = find_function(library, functions.NAME, SYMBOL) && has_all;
  PENSTOCK_CUBLAS_FUNCTIONS(PENSTOCK_FIND)
#undef PENSTOCK_FIND
  return has_all ? std::optional(functions) : std::nullopt;
}

/// Throws Error where the system does not have it.
const BlasFunctions& blas_library() {
  static const std::optional<BlasFunctions> functions = open_blas_library();
  if (!functions) {
    throw Error(
        "matrices cannot be multiplied on a device of CUDA: its BLAS (libcublas.so) is not found; install it (Debian: "
        "libcublas11, CUDA: libcublas), or let LD_LIBRARY_PATH name its folder");
  }
  return *functions;
}

std::string name_of(Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  driver().error_name(result, &name);
  driver().error_text(result, &text);
  return fmt::format("{} ({})", text == nullptr ? "unknown failure" : text, name == nullptr ? "" : name);
}

int attribute_of(DeviceNumber device, Attribute attribute) {
  int value = 0;
  driver().device_attribute(&value, attribute, device);
  return value;
}

Properties properties_of(DeviceNumber device) {
  std::array<char, 256> name{};
  std::uint8_t identity[16]{};  // NOLINT(modernize-avoid-c-arrays): the driver's type is a struct of it
  std::size_t bytes = 0;
  int version = 0;
  driver().device_name(name.data(), static_cast<int>(name.size()) - 1, device);
  driver().device_identity(&identity, device);
  driver().device_memory(&bytes, device);
  driver().driver_version(&version);
  return {.interface = Interface::cuda,
          .number = device,  // as the driver's handles are
          .name = name.data(),
          .driver = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10),
          .identity = std::to_array(identity),
          .memory_bytes = bytes,
          .allocation_bytes = bytes,
          .cache_bytes = static_cast<std::uint64_t>(attribute_of(device, Attribute::l2_cache_bytes)),
          .local_memory_bytes =
              static_cast<std::uint64_t>(attribute_of(device, Attribute::max_shared_memory_per_block_optin)),
          .group_items = attribute_of(device, Attribute::max_threads_per_block),
          .lanes = attribute_of(device, Attribute::warp_size),
          .compute_units = attribute_of(device, Attribute::multiprocessor_count),
          .has_double = true,
          .is_host = false};
}

/// The primary context of a device, which CUDA's runtime uses too.
class Context {
 public:
  explicit Context(DeviceNumber device) : device_(device), properties_(properties_of(device)) {
    check(driver().context_retain(&context_, device), "cuDevicePrimaryCtxRetain");
  }
  ~Context() { driver().context_release(device_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Properties& properties() const noexcept { return properties_; }
  DeviceNumber device() const noexcept { return device_; }
  ContextTag* get() const noexcept { return context_; }

  /// Throws Error where `result` is a failure of the call `what`.
  void check(Result result, const char* what) const {
    if (result != 0) {
      throw Error(fmt::format("the device {}: {} failed: {}", properties_.name, what, name_of(result)));
    }
  }

 private:
  DeviceNumber device_;
  Properties properties_;
  ContextTag* context_ = nullptr;
};

using SharedContext = std::shared_ptr<const Context>;

/// Makes a context current for this thread as long as it lives, and then the one before.
class Current {
 public:
  explicit Current(const Context& context) noexcept { driver().context_push(context.get()); }
  ~Current() {
    ContextTag* popped = nullptr;
    driver().context_pop(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

Pointer pointer_of(const Location& location) noexcept {
  return location.handle + location.offset;
}

/// Device memory of this process, kept by all that use it here.
class Allocation {
 public:
  Allocation(SharedContext context, std::uint64_t bytes) : context_(std::move(context)), bytes_(bytes) {
    const Current current(*context_);
    const Result result = driver().allocate(&pointer_, std::max<std::uint64_t>(bytes, 1));
    if (result == out_of_memory) {
      std::size_t available = 0;
      std::size_t all = 0;
      driver().memory_info(&available, &all);
      throw_no_room(context_->properties(), bytes, available);
    }
    context_->check(result, "cuMemAlloc");
  }
  ~Allocation() {
    const Current current(*context_);
    driver().free(pointer_);
  }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  const Context& context() const noexcept { return *context_; }
  Pointer pointer() const noexcept { return pointer_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  SharedContext context_;
  std::uint64_t bytes_;
  Pointer pointer_ = 0;
};

class CudaMemory final : public Memory {
 public:
  explicit CudaMemory(std::shared_ptr<const Allocation> allocation) noexcept : allocation_(std::move(allocation)) {}

  Location location() const noexcept override { return {allocation_->pointer(), 0}; }
  std::uint64_t bytes() const noexcept override { return allocation_->bytes(); }
  const std::shared_ptr<const Allocation>& allocation() const noexcept { return allocation_; }

 private:
  std::shared_ptr<const Allocation> allocation_;
};

/// Device memory of another process, mapped here.
class MappedMemory final : public Memory {
 public:
  /// Owns `pointer`, which the driver has opened.
  MappedMemory(SharedContext context, Pointer pointer, std::uint64_t bytes) noexcept
      : context_(std::move(context)), pointer_(pointer), bytes_(bytes) {}
  ~MappedMemory() override {
    const Current current(*context_);
    driver().ipc_close(pointer_);
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  Location location() const noexcept override { return {pointer_, 0}; }
  std::uint64_t bytes() const noexcept override { return bytes_; }

 private:
  SharedContext context_;
  Pointer pointer_;
  std::uint64_t bytes_;
};

class CudaHostMemory final : public HostMemory {
 public:
  CudaHostMemory(SharedContext context, std::uint64_t bytes) : context_(std::move(context)), bytes_(bytes) {
    const Current current(*context_);
    context_->check(driver().allocate_host(&data_, std::max<std::uint64_t>(bytes, 1), host_portable), "cuMemHostAlloc");
  }
  ~CudaHostMemory() override {
    const Current current(*context_);
    driver().free_host(data_);
  }
  CudaHostMemory(const CudaHostMemory&) = delete;
  CudaHostMemory& operator=(const CudaHostMemory&) = delete;

  std::span<std::byte> bytes() const noexcept override {
    return {static_cast<std::byte*>(data_), static_cast<std::size_t>(bytes_)};
  }

 private:
  SharedContext context_;
  std::uint64_t bytes_;
  void* data_ = nullptr;
};

/// Memory of the process that is registered for as long as this, or another one of the same memory, lives.
class Registration final : public HostMemory {
 public:
  Registration(SharedContext context, std::span<std::byte> memory) : context_(std::move(context)), memory_(memory) {
    const Current current(*context_);
    const std::scoped_lock lock(mutex);
    const auto [found, is_new] = counts.try_emplace({memory.data(), memory.size()}, 0);
    const Result result = is_new ? driver().register_host(memory.data(), memory.size(), host_portable) : 0;
    is_counted_ = result == 0;
    if (is_counted_) {
      ++found->second;
      return;
    }
    counts.erase(found);
    if (result != already_registered) {
      context_->check(result, "cuMemHostRegister");
    }
  }
  ~Registration() override {
    if (!is_counted_) {
      return;
    }
    const Current current(*context_);
    const std::scoped_lock lock(mutex);
    const auto found = counts.find({memory_.data(), memory_.size()});
    if (--found->second == 0) {
      counts.erase(found);
      driver().unregister_host(memory_.data());
    }
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  std::span<std::byte> bytes() const noexcept override { return memory_; }

 private:
  inline static std::mutex mutex;
  /// How many registrations of each memory live: the driver has one for all, of all contexts.
  inline static std::map<std::pair<const std::byte*, std::size_t>, int> counts;

  SharedContext context_;
  std::span<std::byte> memory_;
  bool is_counted_ = false;  // else the program has registered it, or memory that it is a part of
};

class CudaEvent final : public Event {
 public:
  CudaEvent(SharedContext context, StreamTag* stream) : context_(std::move(context)) {
    const Current current(*context_);
    context_->check(driver().event_create(&event_, 0), "cuEventCreate");
    const Result result = driver().event_record(event_, stream);
    if (result != 0) {
      driver().event_destroy(event_);
    }
    context_->check(result, "cuEventRecord");
  }
  ~CudaEvent() override {
    const Current current(*context_);
    driver().event_destroy(event_);
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  EventTag* get() const noexcept { return event_; }
  bool is_done() const override {
    const Current current(*context_);
    const Result result = driver().event_query(event_);
    if (result != not_ready) {
      context_->check(result, "work given before");
    }
    return result == 0;
  }
  void wait() const override {
    const Current current(*context_);
    context_->check(driver().event_synchronize(event_), "work given before");
  }
  double seconds_since(const Event& earlier) const override {
    const Current current(*context_);
    float elapsed_ms = 0;
    context_->check(driver().event_elapsed_ms(&elapsed_ms, static_cast<const CudaEvent&>(earlier).get(), event_),
                    "cuEventElapsedTime");
    return static_cast<double>(elapsed_ms) * 1e-3;
  }

 private:
  SharedContext context_;
  EventTag* event_ = nullptr;
};

constexpr const char* prelude = R"(#define KERNEL(ITEMS) extern "C" __global__ __launch_bounds__(ITEMS) void
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define LOCATION(NAME) char* NAME##_base, long long NAME##_offset
#define AT(TYPE, NAME) ((TYPE*)(NAME##_base + NAME##_offset))
#define LOCAL_MEMORY(TYPE, NAME, COUNT) extern __shared__ TYPE NAME[]
#define ITEM ((int)threadIdx.x)
#define GROUP ((long long)blockIdx.x)
#define BARRIER() __syncthreads()
typedef long long i64;
)";

class CudaKernel final : public Kernel {
 public:
  CudaKernel(SharedContext context, const std::string& source, const std::string& name) : context_(std::move(context)) {
    const std::string ptx = compiled(source, name);
    const Current current(*context_);
    context_->check(driver().module_load(&module_, ptx.c_str()), "cuModuleLoadData");
    Result result = driver().module_function(&function_, module_, name.c_str());
    if (result == 0) {
      result = driver().function_set(function_, max_dynamic_shared_bytes,
                                     static_cast<int>(context_->properties().local_memory_bytes));
    }
    if (result != 0) {
      driver().module_unload(module_);
    }
    context_->check(result, "cuModuleGetFunction");
  }
  ~CudaKernel() override {
    const Current current(*context_);
    driver().module_unload(module_);
  }
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;

  FunctionTag* get() const noexcept { return function_; }

 private:
  /// The text in PTX, which the driver translates for the device.
  std::string compiled(const std::string& source, const std::string& name) const {
    const CompilerFunctions& functions = compiler();
    const std::string text = prelude + source;
    ProgramTag* program = nullptr;
    if (functions.create(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr) != 0) {
      throw_not_compiled(context_->properties(), name, "nvrtcCreateProgram failed");
    }
    const int capability = 10 * attribute_of(context_->device(), Attribute::compute_capability_major) +
                           attribute_of(context_->device(), Attribute::compute_capability_minor);
    const std::string architecture = fmt::format("--gpu-architecture=compute_{}", capability);
    const std::array<const char*, 1> options{architecture.c_str()};
    std::string text_of_result;
    const bool is_compiled = functions.compile(program, static_cast<int>(options.size()), options.data()) == 0;
    std::size_t bytes = 0;
    (is_compiled ? functions.ptx_bytes : functions.log_bytes)(program, &bytes);
    text_of_result.resize(bytes);
    (is_compiled ? functions.ptx : functions.log)(program, text_of_result.data());
    functions.destroy(&program);
    if (!is_compiled) {
      throw_not_compiled(context_->properties(), name, text_of_result);
    }
    return text_of_result;
  }

  SharedContext context_;
  ModuleTag* module_ = nullptr;
  FunctionTag* function_ = nullptr;
};

/// A handle of cuBLAS, which has its device memory from its beginning on.
class CudaBlas final : public Blas {
 public:
  explicit CudaBlas(SharedContext context) : context_(std::move(context)) {
    const Current current(*context_);
    check(blas_library().create(&handle_), "cublasCreate");
  }
  ~CudaBlas() override {
    const Current current(*context_);
    blas_library().destroy(handle_);
  }
  CudaBlas(const CudaBlas&) = delete;
  CudaBlas& operator=(const CudaBlas&) = delete;

  std::string_view name() const noexcept override { return "cuBLAS"; }
  bool copies_matrices() const noexcept override { return false; }

  /// The context is current.
  void multiply(StreamTag* stream, const Product& product) {
    check(blas_library().set_stream(handle_, stream), "cublasSetStream");
    if (product.real_bytes == 4) {
      multiply(blas_library().multiply_single, static_cast<float>(product.alpha), static_cast<float>(product.beta),
               product, "cublasSgemm");
    } else {
      multiply(blas_library().multiply_double, product.alpha, product.beta, product, "cublasDgemm");
    }
  }

 private:
  /// A matrix in C order is its transpose in Fortran order: C's transpose is the product of op(B)'s and op(A)'s.
  template <class Function, class Real>
  void multiply(Function function, Real alpha, Real beta, const Product& product, const char* name) const {
    const auto op_of = [](const Product::Factor& factor) {
      return factor.is_transposed ? BlasOp::transpose : BlasOp::none;
    };
    check(function(handle_, op_of(product.b), op_of(product.a), static_cast<int>(product.n),
                   static_cast<int>(product.m), static_cast<int>(product.k), &alpha, pointer_of(product.b.location),
                   static_cast<int>(product.b.leading), pointer_of(product.a.location),
                   static_cast<int>(product.a.leading), &beta, pointer_of(product.c),
                   static_cast<int>(product.leading_c)),
          name);
  }

  /// Throws Error where `result` is a failure of the call `what`.
  void check(BlasResult result, const char* what) const {
    constexpr std::array<std::pair<BlasResult, const char*>, 5> names{{{1, "it is not initialised"},
                                                                       {3, "no device memory is left"},
                                                                       {7, "an argument is out of range"},
                                                                       {13, "the device has failed"},
                                                                       {14, "an internal failure"}}};
    if (result != 0) {
      const auto* const found = std::ranges::find(names, result, &std::pair<BlasResult, const char*>::first);
      throw Error(fmt::format("the device {}: {} failed: {} ({})", context_->properties().name, what,
                              found == names.end() ? "unknown failure" : found->second, result));
    }
  }

  SharedContext context_;
  BlasTag* handle_ = nullptr;
};

class CudaStream final : public Stream {
 public:
  explicit CudaStream(SharedContext context) : context_(std::move(context)) {
    const Current current(*context_);
    context_->check(driver().stream_create(&stream_, stream_non_blocking), "cuStreamCreate");
  }
  ~CudaStream() override {
    const Current current(*context_);
    driver().stream_synchronize(stream_);
    driver().stream_destroy(stream_);
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  void copy_to_device(const Location& to, const std::byte* from, const Rows& rows) override {
    const Current current(*context_);
    if (is_beyond_pitch(rows)) {
      for (std::uint64_t i = 0; i < rows.rows; ++i) {
        copy_to_device(to + i * rows.device_pitch, from + i * rows.host_pitch, {.row_bytes = rows.row_bytes});
      }
      return;
    }
    if (rows.rows == 1) {
      context_->check(driver().copy_to_device(pointer_of(to), from, rows.row_bytes, stream_), "cuMemcpyHtoDAsync");
      return;
    }
    Copy2D copy = shape_of(rows);
    copy.source_type = 1;
    copy.source_host = from;
    copy.source_pitch = rows.host_pitch;
    copy.destination_type = 2;
    copy.destination_device = pointer_of(to);
    copy.destination_pitch = rows.device_pitch;
    context_->check(driver().copy_2d(&copy, stream_), "cuMemcpy2DAsync");
  }
  void copy_to_host(std::byte* to, const Location& from, const Rows& rows) override {
    const Current current(*context_);
    if (is_beyond_pitch(rows)) {
      for (std::uint64_t i = 0; i < rows.rows; ++i) {
        copy_to_host(to + i * rows.host_pitch, from + i * rows.device_pitch, {.row_bytes = rows.row_bytes});
      }
      return;
    }
    if (rows.rows == 1) {
      context_->check(driver().copy_to_host(to, pointer_of(from), rows.row_bytes, stream_), "cuMemcpyDtoHAsync");
      return;
    }
    Copy2D copy = shape_of(rows);
    copy.source_type = 2;
    copy.source_device = pointer_of(from);
    copy.source_pitch = rows.device_pitch;
    copy.destination_type = 1;
    copy.destination_host = to;
    copy.destination_pitch = rows.host_pitch;
    context_->check(driver().copy_2d(&copy, stream_), "cuMemcpy2DAsync");
  }
  void copy(const Location& to, const Location& from, std::uint64_t bytes) override {
    const Current current(*context_);
    context_->check(driver().copy(pointer_of(to), pointer_of(from), bytes, stream_), "cuMemcpyAsync");
  }
  void launch(const Kernel& kernel, std::int64_t groups, std::int64_t items, std::uint64_t local_bytes,
              std::span<const Argument> arguments) override {
    const Current current(*context_);
    // A location is two parameters: its values are copied, since the launch reads them by their addresses.
    std::vector<std::array<std::uint64_t, 2>> locations;
    locations.reserve(arguments.size());
    std::vector<void*> values;
    for (const Argument& argument : arguments) {
      if (const auto* const location = std::get_if<Location>(&argument)) {
        locations.push_back({location->handle, location->offset});
        values.push_back(&locations.back()[0]);
        values.push_back(&locations.back()[1]);
      } else {
        std::visit([&](const auto& value) { values.push_back(const_cast<void*>(static_cast<const void*>(&value))); },
                   argument);
      }
    }
    context_->check(driver().launch(static_cast<const CudaKernel&>(kernel).get(), static_cast<unsigned>(groups), 1, 1,
                                    static_cast<unsigned>(items), 1, 1, static_cast<unsigned>(local_bytes), stream_,
                                    values.data(), nullptr),
                    "cuLaunchKernel");
  }
  void multiply(Blas& blas, const Product& product) override {
    const Current current(*context_);
    static_cast<CudaBlas&>(blas).multiply(stream_, product);
  }
  std::unique_ptr<Event> record() override { return std::make_unique<CudaEvent>(context_, stream_); }
  void wait(const Event& event) override {
    const Current current(*context_);
    context_->check(driver().stream_wait_event(stream_, static_cast<const CudaEvent&>(event).get(), 0),
                    "cuStreamWaitEvent");
  }
  void finish() override {
    const Current current(*context_);
    context_->check(driver().stream_synchronize(stream_), "work given before");
  }

 private:
  /// Whether rows are further apart than copies of rows may have them (CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2^31 - 1 of all
  /// devices).
  static bool is_beyond_pitch(const Rows& rows) noexcept {
    return rows.rows > 1 && std::max({rows.row_bytes, rows.host_pitch, rows.device_pitch}) > 0x7fffffff;
  }
  static Copy2D shape_of(const Rows& rows) noexcept {
    Copy2D copy;
    copy.width_bytes = rows.row_bytes;
    copy.height = rows.rows;
    return copy;
  }

  SharedContext context_;
  StreamTag* stream_ = nullptr;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(SharedContext context) : context_(std::move(context)) {}

  const Properties& properties() const noexcept override { return context_->properties(); }
  std::uint64_t available_bytes() const override {
    const Current current(*context_);
    std::size_t available = 0;
    std::size_t all = 0;
    context_->check(driver().memory_info(&available, &all), "cuMemGetInfo");
    return available;
  }
  std::unique_ptr<Memory> allocate(std::uint64_t bytes) const override {
    return std::make_unique<CudaMemory>(std::make_shared<Allocation>(context_, bytes));
  }
  SharedMemory share(const Memory& memory) const override {
    SharedMemory shared{
        .interface = Interface::cuda, .process = process_number(), .memory = &memory, .bytes = memory.bytes()};
    IpcHandle handle{};
    const Current current(*context_);
    shared.has_handle = driver().ipc_handle(&handle, memory.location().handle) == 0;
    shared.handle = handle.bytes;
    return shared;
  }
  std::unique_ptr<Memory> open_shared(const SharedMemory& shared) const override {
    if (shared.interface != Interface::cuda) {
      return nullptr;
    }
    const Current current(*context_);
    if (shared.process == process_number()) {
      const auto& allocation = static_cast<const CudaMemory*>(shared.memory)->allocation();
      reach(allocation->context());
      return std::make_unique<CudaMemory>(allocation);
    }
    Pointer pointer = 0;
    if (!shared.has_handle || driver().ipc_open(&pointer, {shared.handle}, ipc_lazy_peer_access) != 0) {
      return nullptr;
    }
    return std::make_unique<MappedMemory>(context_, pointer, shared.bytes);
  }
  std::unique_ptr<HostMemory> allocate_host(std::uint64_t bytes) const override {
    return std::make_unique<CudaHostMemory>(context_, bytes);
  }
  std::unique_ptr<HostMemory> pin(std::span<std::byte> memory) const override {
    return memory.empty() ? nullptr : std::make_unique<Registration>(context_, memory);
  }
  std::unique_ptr<Stream> make_stream() const override { return std::make_unique<CudaStream>(context_); }
  void finish(std::uint64_t stream) const override {
    const Current current(*context_);
    context_->check(driver().stream_synchronize(reinterpret_cast<StreamTag*>(stream)), "cuStreamSynchronize");
  }
  std::unique_ptr<Kernel> compile(const std::string& source, const std::string& name) const override {
    return std::make_unique<CudaKernel>(context_, source, name);
  }
  std::unique_ptr<Blas> open_blas() const override { return std::make_unique<CudaBlas>(context_); }

 private:
  /// Lets this device write into the memory of another one of this process without the host, where it can; addresses
  /// are valid for copies in any case. The device's own context is current.
  void reach(const Context& other) const noexcept {
    int can_access = 0;
    if (other.device() != context_->device() &&
        driver().can_access_peer(&can_access, context_->device(), other.device()) == 0 && can_access != 0) {
      driver().enable_peer_access(other.get(), 0);  // fails where it is enabled already
    }
  }

  SharedContext context_;
};

}  // namespace
}  // namespace cuda

std::vector<Properties> list_cuda() {
  std::vector<Properties> devices;
  int count = 0;
  if (cuda::driver_or_none() && cuda::driver().device_count(&count) == 0) {
    for (int i = 0; i < count; ++i) {
      cuda::DeviceNumber device = 0;
      if (cuda::driver().device_get(&device, i) == 0) {
        devices.push_back(cuda::properties_of(device));
      }
    }
  }
  return devices;
}

std::shared_ptr<const Device> open_cuda(std::size_t index) {
  cuda::DeviceNumber device = 0;
  cuda::driver().device_get(&device, static_cast<int>(index));
  return std::make_shared<cuda::CudaDevice>(std::make_shared<cuda::Context>(device));
}

}  // namespace penstock::device
