// Devices by OpenCL, whose loader is opened when devices are first asked for, and CLBlast, when it is first used.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
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
#include "penstock/device/interfaces.hpp"

namespace penstock::device {
namespace opencl {
namespace {

// NOLINTBEGIN(bugprone-macro-parentheses, cppcoreguidelines-macro-usage): names are declared, and looked up as text
// clang-format off
#define PENSTOCK_OPENCL_FUNCTIONS(X) \
  X(clBuildProgram) \
  X(clCreateBuffer) \
  X(clCreateCommandQueue) \
  X(clCreateContext) \
  X(clCreateKernel) \
  X(clCreateProgramWithSource) \
  X(clEnqueueBarrierWithWaitList) \
  X(clEnqueueCopyBuffer) \
  X(clEnqueueMapBuffer) \
  X(clEnqueueMarkerWithWaitList) \
  X(clEnqueueNDRangeKernel) \
  X(clEnqueueReadBufferRect) \
  X(clEnqueueUnmapMemObject) \
  X(clEnqueueWriteBufferRect) \
  X(clFinish) \
  X(clFlush) \
  X(clGetDeviceIDs) \
  X(clGetDeviceInfo) \
  X(clGetEventInfo) \
  X(clGetEventProfilingInfo) \
  X(clGetPlatformIDs) \
  X(clGetProgramBuildInfo) \
  X(clReleaseCommandQueue) \
  X(clReleaseContext) \
  X(clReleaseEvent) \
  X(clReleaseKernel) \
  X(clReleaseMemObject) \
  X(clReleaseProgram) \
  X(clRetainContext) \
  X(clRetainMemObject) \
  X(clSetKernelArg) \
  X(clWaitForEvents)
// clang-format on

struct Functions {
#define PENSTOCK_DECLARE(NAME) decltype(&::NAME) NAME;
  PENSTOCK_OPENCL_FUNCTIONS(PENSTOCK_DECLARE)
#undef PENSTOCK_DECLARE
};
// NOLINTEND(bugprone-macro-parentheses, cppcoreguidelines-macro-usage)

/// Nothing where the system has no OpenCL 1.2 or later.
std::optional<Functions> open_functions() noexcept {
  void* const library = open_library({"libOpenCL.so.1", "libOpenCL.so"});
  if (library == nullptr) {
    return std::nullopt;
  }
  Functions functions{};
  bool has_all = true;
#define PENSTOCK_FIND(NAME) has_all = find_function(library, functions.NAME, #NAME) && has_all;
  PENSTOCK_OPENCL_FUNCTIONS(PENSTOCK_FIND)
#undef PENSTOCK_FIND
  return has_all ? std::optional(functions) : std::nullopt;
}

const std::optional<Functions>& functions_or_none() noexcept {
  static const std::optional<Functions> functions = open_functions();
  return functions;
}

/// Only where a device has been found.
const Functions& api() noexcept {
  return *functions_or_none();
}

/// CLBlast's, declared here since no header of its is needed to build: CLBlastSgemm and CLBlastDgemm of its C
/// interface. Its enumerations are BLAS's in C: 101 is C order, 111 and 112 are no transpose and a transpose. Offsets
/// are in elements.
template <class Real>
using Multiply = cl_int (*)(int order, int op_a, int op_b, std::size_t m, std::size_t n, std::size_t k, Real alpha,
                            cl_mem a, std::size_t offset_a, std::size_t leading_a, cl_mem b, std::size_t offset_b,
                            std::size_t leading_b, Real beta, cl_mem c, std::size_t offset_c, std::size_t leading_c,
                            cl_command_queue* queue, cl_event* event);
struct BlasFunctions {
  Multiply<float> multiply_single = nullptr;
  Multiply<double> multiply_double = nullptr;
};

std::optional<BlasFunctions> open_blas_library() noexcept {
  void* const library = open_library({"libclblast.so.1", "libclblast.so"});
  BlasFunctions functions;
  const bool has_all = library != nullptr && find_function(library, functions.multiply_single, "CLBlastSgemm") &&
                       find_function(library, functions.multiply_double, "CLBlastDgemm");
  return has_all ? std::optional(functions) : std::nullopt;
}

/// Throws Error where the system does not have it.
const BlasFunctions& blas_library() {
  static const std::optional<BlasFunctions> functions = open_blas_library();
  if (!functions) {
    throw Error(
        "matrices cannot be multiplied on a device of OpenCL: CLBlast (libclblast.so.1) is not found; install it "
        "(Debian: libclblast1), or let LD_LIBRARY_PATH name its folder");
  }
  return *functions;
}

std::string name_of(cl_int status) {
  constexpr std::array<std::pair<cl_int, const char*>, 8> names{{
      {CL_DEVICE_NOT_AVAILABLE, "the device is not available"},
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "no device memory is left"},
      {CL_OUT_OF_RESOURCES, "the device has failed, or is out of resources"},
      {CL_OUT_OF_HOST_MEMORY, "no host memory is left"},
      {CL_INVALID_MEM_OBJECT, "this is no memory of the device's context"},
      {CL_INVALID_CONTEXT, "this is no context"},
      {CL_INVALID_COMMAND_QUEUE, "the device's queue has failed"},
      {CL_INVALID_VALUE, "a value is out of range"},
  }};
  for (const auto& [code, name] : names) {
    if (code == status) {
      return fmt::format("{} ({})", name, status);
    }
  }
  return fmt::format("error {}", status);
}

struct DeviceId {
  cl_platform_id platform;
  cl_device_id device;
};

std::vector<DeviceId> find_devices() {
  std::vector<DeviceId> all;
  if (!functions_or_none()) {
    return all;
  }
  cl_uint count = 0;
  if (api().clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) {
    return all;
  }
  std::vector<cl_platform_id> platforms(count);
  api().clGetPlatformIDs(count, platforms.data(), nullptr);
  for (cl_platform_id platform : platforms) {
    cl_uint devices_of_platform = 0;
    if (api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices_of_platform) != CL_SUCCESS) {
      continue;
    }
    std::vector<cl_device_id> devices(devices_of_platform);
    api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices_of_platform, devices.data(), nullptr);
    for (cl_device_id device : devices) {
      all.push_back({platform, device});
    }
  }
  return all;
}

/// All devices of all platforms, found once: loaders and drivers initialise themselves in the first calls, which
/// several threads may not make at a time.
const std::vector<DeviceId>& all_devices() {
  static const std::vector<DeviceId> devices = find_devices();
  return devices;
}

/// The device's place in `all_devices`; -1 where it is not there, as devices that are parts of others are not.
std::int64_t position_of(cl_device_id device) {
  const auto found = std::ranges::find(all_devices(), device, &DeviceId::device);
  return found == all_devices().end() ? -1 : found - all_devices().begin();
}

template <class Number>
Number number_of(cl_device_id device, cl_device_info what) {
  Number number{};
  api().clGetDeviceInfo(device, what, sizeof number, &number, nullptr);
  return number;
}

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  api().clGetDeviceInfo(device, what, 0, nullptr, &bytes);
  std::string text(bytes, '\0');
  api().clGetDeviceInfo(device, what, bytes, text.data(), nullptr);
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

Properties properties_of(cl_device_id device) {
  // A number of OpenCL 1.1's Nvidia extension; else the items that run in step are told by a compiled kernel alone.
  constexpr cl_device_info warp_size = 0x4003;
  const auto warp = number_of<cl_uint>(device, warp_size);
  const bool is_host = (number_of<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  // Of the extension cl_khr_device_uuid.
  constexpr cl_device_info uuid = 0x106A;
  Properties::Identity identity{};
  if (api().clGetDeviceInfo(device, uuid, identity.size(), identity.data(), nullptr) != CL_SUCCESS) {
    const auto found = std::ranges::find(all_devices(), device, &DeviceId::device);
    identity = {static_cast<std::uint8_t>(found - all_devices().begin())};
  }
  return {.interface = Interface::opencl,
          .number = position_of(device),
          .name = text_of(device, CL_DEVICE_NAME),
          .driver = text_of(device, CL_DEVICE_VERSION) + ", driver " + text_of(device, CL_DRIVER_VERSION),
          .identity = identity,
          .memory_bytes = number_of<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE),
          .allocation_bytes = number_of<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE),
          .cache_bytes = number_of<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
          .local_memory_bytes = number_of<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE),
          .group_items = static_cast<std::int64_t>(number_of<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE)),
          .lanes = warp != 0 ? static_cast<std::int64_t>(warp) : (is_host ? 1 : 32),
          .compute_units = number_of<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS),
          .has_double = number_of<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0,
          .is_host = is_host};
}

/// A context and the device of it, which all that is made there keeps.
class Context {
 public:
  /// Owns `context`.
  Context(cl_context context, cl_device_id device)
      : context_(context), device_(device), properties_(properties_of(device)) {}
  ~Context() { api().clReleaseContext(context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  cl_context get() const noexcept { return context_; }
  cl_device_id device() const noexcept { return device_; }
  const Properties& properties() const noexcept { return properties_; }

  /// Throws Error where `status` is a failure of the call `what`.
  void check(cl_int status, const char* what) const {
    if (status != CL_SUCCESS) {
      throw Error(fmt::format("the device {}: {} failed: {}", properties_.name, what, name_of(status)));
    }
  }

 private:
  cl_context context_;
  cl_device_id device_;
  Properties properties_;
};

using SharedContext = std::shared_ptr<const Context>;

cl_mem memory_of(const Location& location) noexcept {
  return reinterpret_cast<cl_mem>(location.handle);
}

class OpenclMemory final : public Memory {
 public:
  OpenclMemory(SharedContext context, std::uint64_t bytes, cl_mem_flags flags)
      : context_(std::move(context)), bytes_(bytes) {
    const Properties& properties = context_->properties();
    const std::uint64_t most = properties.allocation_bytes;
    cl_int status = CL_SUCCESS;
    if (bytes <= most) {
      memory_ = api().clCreateBuffer(context_->get(), flags, std::max<std::size_t>(bytes, 1), nullptr, &status);
    }
    if (bytes > most || status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_INVALID_BUFFER_SIZE) {
      throw_no_room(properties, bytes, most);
    }
    context_->check(status, "clCreateBuffer");
  }
  /// The same memory once more.
  OpenclMemory(SharedContext context, const OpenclMemory& other)
      : context_(std::move(context)), bytes_(other.bytes_), memory_(other.memory_) {
    context_->check(api().clRetainMemObject(memory_), "clRetainMemObject");
  }
  ~OpenclMemory() override { api().clReleaseMemObject(memory_); }
  OpenclMemory(const OpenclMemory&) = delete;
  OpenclMemory& operator=(const OpenclMemory&) = delete;

  Location location() const noexcept override { return {reinterpret_cast<std::uint64_t>(memory_), 0}; }
  std::uint64_t bytes() const noexcept override { return bytes_; }
  const Context& context() const noexcept { return *context_; }

 private:
  SharedContext context_;
  std::uint64_t bytes_;
  cl_mem memory_ = nullptr;
};

class OpenclEvent final : public Event {
 public:
  /// Owns `event`.
  OpenclEvent(SharedContext context, cl_event event) : context_(std::move(context)), event_(event) {}
  ~OpenclEvent() override { api().clReleaseEvent(event_); }
  OpenclEvent(const OpenclEvent&) = delete;
  OpenclEvent& operator=(const OpenclEvent&) = delete;

  cl_event get() const noexcept { return event_; }
  bool is_done() const override {
    cl_int state = CL_COMPLETE;
    context_->check(api().clGetEventInfo(event_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr),
                    "clGetEventInfo");
    if (state < 0) {
      context_->check(state, "work given before");
    }
    if (state == CL_COMPLETE) {
      // Asking is no synchronisation: only after a wait do other queues see what was done.
      context_->check(api().clWaitForEvents(1, &event_), "clWaitForEvents");
    }
    return state == CL_COMPLETE;
  }
  void wait() const override {
    context_->check(api().clWaitForEvents(1, &event_), "clWaitForEvents");
    is_done();
  }
  double seconds_since(const Event& earlier) const override {
    return static_cast<double>(end_ns() - static_cast<const OpenclEvent&>(earlier).end_ns()) * 1e-9;
  }

 private:
  std::int64_t end_ns() const {
    cl_ulong end = 0;
    context_->check(api().clGetEventProfilingInfo(event_, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
                    "clGetEventProfilingInfo");
    return static_cast<std::int64_t>(end);
  }

  SharedContext context_;
  cl_event event_;
};

constexpr const char* prelude =
    R"(#define KERNEL(ITEMS) __kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
#define FUNCTION static
#define GLOBAL __global
#define LOCATION(NAME) __global char* NAME##_base, long NAME##_offset
#define AT(TYPE, NAME) ((__global TYPE*)(NAME##_base + NAME##_offset))
#define LOCAL_MEMORY(TYPE, NAME, COUNT) __local TYPE NAME[COUNT]
#define ITEM ((int)get_local_id(0))
#define GROUP ((long)get_group_id(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
typedef long i64;
)";

class OpenclKernel final : public Kernel {
 public:
  OpenclKernel(SharedContext context, const std::string& source, const std::string& name)
      : context_(std::move(context)) {
    const std::array<const char*, 2> texts{prelude, source.c_str()};
    cl_int status = CL_SUCCESS;
    cl_program program = api().clCreateProgramWithSource(context_->get(), texts.size(),
                                                         const_cast<const char**>(texts.data()), nullptr, &status);
    context_->check(status, "clCreateProgramWithSource");
    cl_device_id device = context_->device();
    status = api().clBuildProgram(program, 1, &device, "", nullptr, nullptr);
    const std::string log = status == CL_SUCCESS ? std::string() : log_of(program);
    if (status == CL_SUCCESS) {
      kernel_ = api().clCreateKernel(program, name.c_str(), &status);
    }
    api().clReleaseProgram(program);
    if (!log.empty()) {
      throw_not_compiled(context_->properties(), name, log);
    }
    context_->check(status, "clCreateKernel");
  }
  ~OpenclKernel() override { api().clReleaseKernel(kernel_); }
  OpenclKernel(const OpenclKernel&) = delete;
  OpenclKernel& operator=(const OpenclKernel&) = delete;

  /// Sets the arguments and runs the kernel, one thread at a time: a cl_kernel has one set of arguments.
  void enqueue(cl_command_queue queue, std::size_t groups, std::size_t items,
               std::span<const Argument> arguments) const {
    const std::scoped_lock lock(mutex_);
    cl_uint number = 0;
    const auto set = [&](const auto& value) {
      context_->check(api().clSetKernelArg(kernel_, number++, sizeof value, &value), "clSetKernelArg");
    };
    for (const Argument& argument : arguments) {
      if (const auto* const location = std::get_if<Location>(&argument)) {
        set(memory_of(*location));
        set(static_cast<cl_long>(location->offset));
      } else {
        std::visit(
            [&](const auto& value) {
              if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, Location>) {
                set(value);
              }
            },
            argument);
      }
    }
    const std::size_t all = groups * items;
    context_->check(api().clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &all, &items, 0, nullptr, nullptr),
                    "clEnqueueNDRangeKernel");
  }

 private:
  std::string log_of(cl_program program) const {
    std::size_t bytes = 0;
    api().clGetProgramBuildInfo(program, context_->device(), CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
    std::string log(bytes, '\0');
    api().clGetProgramBuildInfo(program, context_->device(), CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
    return log.empty() ? "the compiler gives no reason" : log;
  }

  SharedContext context_;
  mutable std::mutex mutex_;
  cl_kernel kernel_ = nullptr;
};

class OpenclBlas final : public Blas {
 public:
  explicit OpenclBlas(SharedContext context) : context_(std::move(context)), functions_(blas_library()) {}

  std::string_view name() const noexcept override { return "CLBlast"; }
  bool copies_matrices() const noexcept override { return true; }

  void enqueue(cl_command_queue queue, const Product& product) const {
    if (product.real_bytes == 4) {
      enqueue(functions_.multiply_single, static_cast<float>(product.alpha), static_cast<float>(product.beta), queue,
              product, "CLBlastSgemm");
    } else {
      enqueue(functions_.multiply_double, product.alpha, product.beta, queue, product, "CLBlastDgemm");
    }
  }

 private:
  template <class Real>
  void enqueue(Multiply<Real> multiply, Real alpha, Real beta, cl_command_queue queue, const Product& product,
               const char* name) const {
    const auto op_of = [](const Product::Factor& factor) { return factor.is_transposed ? 112 : 111; };
    const auto count = [](std::int64_t number) { return static_cast<std::size_t>(number); };
    const auto elements = [](const Location& location) { return location.offset / sizeof(Real); };
    context_->check(
        multiply(101, op_of(product.a), op_of(product.b), count(product.m), count(product.n), count(product.k), alpha,
                 memory_of(product.a.location), elements(product.a.location), count(product.a.leading),
                 memory_of(product.b.location), elements(product.b.location), count(product.b.leading), beta,
                 memory_of(product.c), elements(product.c), count(product.leading_c), &queue, nullptr),
        name);
  }

  SharedContext context_;
  const BlasFunctions& functions_;
};

class OpenclStream final : public Stream {
 public:
  explicit OpenclStream(SharedContext context) : context_(std::move(context)) {
    cl_int status = CL_SUCCESS;
    queue_ = api().clCreateCommandQueue(context_->get(), context_->device(), CL_QUEUE_PROFILING_ENABLE, &status);
    context_->check(status, "clCreateCommandQueue");
  }
  ~OpenclStream() override {
    api().clFinish(queue_);
    api().clReleaseCommandQueue(queue_);
  }
  OpenclStream(const OpenclStream&) = delete;
  OpenclStream& operator=(const OpenclStream&) = delete;

  void copy_to_device(const Location& to, const std::byte* from, const Rows& rows) override {
    copy_rows("clEnqueueWriteBufferRect", api().clEnqueueWriteBufferRect, to, from, rows);
  }
  void copy_to_host(std::byte* to, const Location& from, const Rows& rows) override {
    copy_rows("clEnqueueReadBufferRect", api().clEnqueueReadBufferRect, from, to, rows);
  }
  void copy(const Location& to, const Location& from, std::uint64_t bytes) override {
    context_->check(api().clEnqueueCopyBuffer(queue_, memory_of(from), memory_of(to), from.offset, to.offset, bytes, 0,
                                              nullptr, nullptr),
                    "clEnqueueCopyBuffer");
    flush();
  }
  void launch(const Kernel& kernel, std::int64_t groups, std::int64_t items, std::uint64_t /*local_bytes*/,
              std::span<const Argument> arguments) override {
    static_cast<const OpenclKernel&>(kernel).enqueue(queue_, static_cast<std::size_t>(groups),
                                                     static_cast<std::size_t>(items), arguments);
    flush();
  }
  void multiply(Blas& blas, const Product& product) override {
    static_cast<OpenclBlas&>(blas).enqueue(queue_, product);
    flush();
  }
  std::unique_ptr<Event> record() override {
    cl_event event = nullptr;
    context_->check(api().clEnqueueMarkerWithWaitList(queue_, 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
    auto owned = std::make_unique<OpenclEvent>(context_, event);
    flush();
    return owned;
  }
  void wait(const Event& event) override {
    cl_event other = static_cast<const OpenclEvent&>(event).get();
    context_->check(api().clEnqueueBarrierWithWaitList(queue_, 1, &other, nullptr), "clEnqueueBarrierWithWaitList");
  }
  void finish() override { context_->check(api().clFinish(queue_), "clFinish"); }

 private:
  /// The bytes from row to row; OpenCL refuses fewer than those of a row, which for one row do not matter.
  static std::size_t pitch(const Rows& rows, std::uint64_t pitch) noexcept {
    return std::max(rows.row_bytes, rows.rows == 1 ? rows.row_bytes : pitch);
  }
  /// Copies rows by `enqueue`, which says which way.
  template <class Enqueue, class Byte>
  void copy_rows(const char* name, Enqueue enqueue, const Location& device, Byte* host, const Rows& rows) {
    const std::array<std::size_t, 3> device_origin{device.offset, 0, 0};
    const std::array<std::size_t, 3> host_origin{};
    const std::array<std::size_t, 3> region{rows.row_bytes, rows.rows, 1};
    context_->check(
        enqueue(queue_, memory_of(device), CL_FALSE, device_origin.data(), host_origin.data(), region.data(),
                pitch(rows, rows.device_pitch), 0, pitch(rows, rows.host_pitch), 0, host, 0, nullptr, nullptr),
        name);
    flush();
  }
  void flush() { context_->check(api().clFlush(queue_), "clFlush"); }

  SharedContext context_;
  cl_command_queue queue_ = nullptr;
};

/// A buffer that the driver pins, mapped for as long as it lives.
class OpenclHostMemory final : public HostMemory {
 public:
  OpenclHostMemory(const SharedContext& context, std::uint64_t bytes)
      : memory_(context, bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR), context_(context), bytes_(bytes) {
    cl_int status = CL_SUCCESS;
    queue_ = api().clCreateCommandQueue(context_->get(), context_->device(), 0, &status);
    context_->check(status, "clCreateCommandQueue");
    mapped_ = api().clEnqueueMapBuffer(queue_, memory_of(memory_.location()), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                       std::max<std::size_t>(bytes, 1), 0, nullptr, nullptr, &status);
    if (status != CL_SUCCESS) {
      api().clReleaseCommandQueue(queue_);
    }
    context_->check(status, "clEnqueueMapBuffer");
  }
  ~OpenclHostMemory() override {
    api().clEnqueueUnmapMemObject(queue_, memory_of(memory_.location()), mapped_, 0, nullptr, nullptr);
    api().clFinish(queue_);
    api().clReleaseCommandQueue(queue_);
  }
  OpenclHostMemory(const OpenclHostMemory&) = delete;
  OpenclHostMemory& operator=(const OpenclHostMemory&) = delete;

  std::span<std::byte> bytes() const noexcept override {
    return {static_cast<std::byte*>(mapped_), static_cast<std::size_t>(bytes_)};
  }

 private:
  OpenclMemory memory_;
  SharedContext context_;
  std::uint64_t bytes_;
  cl_command_queue queue_ = nullptr;
  void* mapped_ = nullptr;
};

class OpenclDevice final : public Device {
 public:
  explicit OpenclDevice(SharedContext context) : context_(std::move(context)) {}

  const Properties& properties() const noexcept override { return context_->properties(); }
  std::uint64_t available_bytes() const override { return context_->properties().memory_bytes; }
  std::unique_ptr<Memory> allocate(std::uint64_t bytes) const override {
    return std::make_unique<OpenclMemory>(context_, bytes, CL_MEM_READ_WRITE);
  }
  SharedMemory share(const Memory& memory) const override {
    return {.interface = Interface::opencl, .process = process_number(), .memory = &memory, .bytes = memory.bytes()};
  }
  std::unique_ptr<Memory> open_shared(const SharedMemory& shared) const override {
    if (shared.interface != Interface::opencl || shared.process != process_number()) {
      return nullptr;
    }
    const auto& memory = *static_cast<const OpenclMemory*>(shared.memory);
    return memory.context().get() == context_->get() ? std::make_unique<OpenclMemory>(context_, memory) : nullptr;
  }
  std::unique_ptr<HostMemory> allocate_host(std::uint64_t bytes) const override {
    return std::make_unique<OpenclHostMemory>(context_, bytes);
  }
  std::unique_ptr<HostMemory> pin(std::span<std::byte> /*memory*/) const override { return nullptr; }
  std::unique_ptr<Stream> make_stream() const override { return std::make_unique<OpenclStream>(context_); }
  void finish(std::uint64_t stream) const override {
    context_->check(api().clFinish(reinterpret_cast<cl_command_queue>(stream)), "clFinish");
  }
  std::unique_ptr<Kernel> compile(const std::string& source, const std::string& name) const override {
    return std::make_unique<OpenclKernel>(context_, source, name);
  }
  std::unique_ptr<Blas> open_blas() const override { return std::make_unique<OpenclBlas>(context_); }

 private:
  SharedContext context_;
};

SharedContext make_context(const DeviceId& id) {
  const std::array<cl_context_properties, 3> properties{CL_CONTEXT_PLATFORM,
                                                        reinterpret_cast<cl_context_properties>(id.platform), 0};
  cl_int status = CL_SUCCESS;
  cl_context context = api().clCreateContext(properties.data(), 1, &id.device, nullptr, nullptr, &status);
  if (status != CL_SUCCESS) {
    throw Error(fmt::format("the device {} cannot be opened: {}", properties_of(id.device).name, name_of(status)));
  }
  return std::make_shared<Context>(context, id.device);
}

/// The context of a listed device, the same for all that use it at a time.
SharedContext context_of(std::size_t index) {
  static std::mutex mutex;
  static std::map<std::size_t, std::weak_ptr<const Context>> contexts;
  const std::scoped_lock lock(mutex);
  std::weak_ptr<const Context>& known = contexts[index];
  SharedContext context = known.lock();
  if (context == nullptr) {
    context = make_context(all_devices().at(index));
    known = context;
  }
  return context;
}

}  // namespace
}  // namespace opencl

std::vector<Properties> list_opencl() {
  std::vector<Properties> devices;
  for (const opencl::DeviceId& id : opencl::all_devices()) {
    devices.push_back(opencl::properties_of(id.device));
  }
  return devices;
}

std::shared_ptr<const Device> open_opencl(std::size_t index) {
  return std::make_shared<opencl::OpenclDevice>(opencl::context_of(index));
}

std::shared_ptr<const Device> open_opencl(void* context, void* device) {
  if (!opencl::functions_or_none() || context == nullptr || device == nullptr ||
      opencl::api().clRetainContext(static_cast<cl_context>(context)) != CL_SUCCESS) {
    throw Error("these are no cl_context and cl_device_id of this system's OpenCL");
  }
  return std::make_shared<opencl::OpenclDevice>(
      std::make_shared<opencl::Context>(static_cast<cl_context>(context), static_cast<cl_device_id>(device)));
}

}  // namespace penstock::device
