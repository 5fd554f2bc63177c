// CUDA's driver as far as Penstock calls it, on top of an OpenCL device: one device of 1 GiB. A "PTX" is a kernel's
// source (imitated_nvrtc.cpp), whose parameters say what a launch passes.
//
// Device memory lies in memory files, which other processes map by handles, as CUDA's driver has it.
//
// PENSTOCK_TEST_LOST_AFTER=N: after N launches the device is lost, and every call fails. imitated_waits(STREAM): how
// often a stream that was not made here was waited for, as CUDA's default streams 1 and 2 are.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "penstock/device/cuda_driver.hpp"
#include "penstock/device/interfaces.hpp"

namespace {

using namespace penstock::device;

constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 30;
constexpr cuda::Result invalid_value = 1;
constexpr cuda::Result invalid_context = 201;
constexpr cuda::Result launch_failed = 719;

/// What a launch passes, one after the other.
enum class Parameter { location, integer, real };

struct Module {
  std::unique_ptr<Kernel> kernel;
  std::string name;
  std::vector<Parameter> parameters;
  bool is_double = false;
};

/// What the imitation itself calls of OpenCL: it needs the context to make buffers over memory of its own.
struct OpenclFunctions {
  decltype(&::clGetPlatformIDs) platforms = nullptr;
  decltype(&::clGetDeviceIDs) devices = nullptr;
  decltype(&::clCreateContext) create_context = nullptr;
  decltype(&::clCreateBuffer) create_buffer = nullptr;
  decltype(&::clReleaseMemObject) release_buffer = nullptr;
};

/// A memory file, mapped, and the buffer over it: the device is the processor, and works on the file itself.
class FileMemory final : public Memory {
 public:
  /// Owns `file`.
  FileMemory(const OpenclFunctions& opencl, cl_context context, int file, std::size_t bytes)
      : opencl_(opencl), file_(file), bytes_(bytes) {
    mapped_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    cl_int status = CL_SUCCESS;
    if (mapped_ != MAP_FAILED) {
      buffer_ = opencl.create_buffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, mapped_, &status);
    }
    if (buffer_ == nullptr || status != CL_SUCCESS) {
      give_up();
      throw std::runtime_error("the file cannot be a buffer");
    }
  }
  ~FileMemory() override {
    opencl_.release_buffer(buffer_);
    give_up();
  }
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

  Location location() const noexcept override { return {reinterpret_cast<std::uint64_t>(buffer_), 0}; }
  std::uint64_t bytes() const noexcept override { return bytes_; }
  int file() const noexcept { return file_; }

 private:
  void give_up() const noexcept {
    if (mapped_ != MAP_FAILED) {
      munmap(mapped_, bytes_);
    }
    close(file_);
  }

  const OpenclFunctions& opencl_;
  int file_;
  std::size_t bytes_;
  void* mapped_ = nullptr;
  cl_mem buffer_ = nullptr;
};

/// What a handle for other processes says.
struct Handle {
  pid_t process;
  int file;
  std::size_t bytes;
};
static_assert(sizeof(Handle) <= sizeof(cuda::IpcHandle));

/// The one device, and all that was taken of it.
class Imitation {
 public:
  static Imitation& get() {
    static Imitation imitation;
    return imitation;
  }

  const Device& device() const { return *device_; }

  std::mutex mutex;
  std::map<cuda::Pointer, std::unique_ptr<FileMemory>> memory;  // by its fictitious address
  std::set<cuda::Pointer> opened;                               // of these, what other processes have
  std::uint64_t taken_bytes = 0;
  cuda::Pointer next_address = std::uint64_t{1} << 40;
  std::set<const void*> registered;
  std::atomic<std::int64_t> launches_left = std::int64_t{1} << 62;
  std::set<const cuda::StreamTag*> streams;
  std::map<const cuda::StreamTag*, int> waits;  // by streams that are not among these

  /// Keeps memory under a fictitious address. The mutex is held.
  cuda::Pointer keep(int file, std::size_t bytes) {
    auto kept = std::make_unique<FileMemory>(opencl_, context_, file, bytes);
    const cuda::Pointer pointer = next_address;
    memory[pointer] = std::move(kept);
    next_address += (bytes + 511) / 512 * 512;
    return pointer;
  }

  bool is_lost() const { return launches_left.load() < 0; }

  /// The location of an address, which may lie within what was allocated.
  Location find(cuda::Pointer address) {
    const std::scoped_lock lock(mutex);
    auto found = memory.upper_bound(address);
    if (found == memory.begin()) {
      throw std::out_of_range("no memory of the device");
    }
    --found;
    return found->second->location() + (address - found->first);
  }

 private:
  Imitation() {
    void* const library = open_library({"libOpenCL.so.1"});
    find_function(library, opencl_.platforms, "clGetPlatformIDs");
    find_function(library, opencl_.devices, "clGetDeviceIDs");
    find_function(library, opencl_.create_context, "clCreateContext");
    find_function(library, opencl_.create_buffer, "clCreateBuffer");
    find_function(library, opencl_.release_buffer, "clReleaseMemObject");
    list_opencl();  // initialises the loader, as one thread
    std::array<cl_platform_id, 8> platforms{};
    cl_device_id device = nullptr;
    opencl_.platforms(static_cast<cl_uint>(platforms.size()), platforms.data(), nullptr);
    for (std::size_t i = 0; device == nullptr && i < platforms.size() && platforms[i] != nullptr; ++i) {
      opencl_.devices(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    }
    context_ = opencl_.create_context(nullptr, 1, &device, nullptr, nullptr, nullptr);
    device_ = open_opencl(context_, device);
    if (const char* const launches = std::getenv("PENSTOCK_TEST_LOST_AFTER"); launches != nullptr) {
      launches_left = std::atoll(launches);
    }
  }

  OpenclFunctions opencl_;
  cl_context context_ = nullptr;  // until the process ends
  std::shared_ptr<const Device> device_;
};

thread_local int contexts = 0;  // that are current

/// Runs a call; what goes wrong is a code.
template <class Call>
cuda::Result guarded(Call call, bool needs_context = true) {
  if (needs_context && contexts == 0) {
    return invalid_context;
  }
  try {
    if (Imitation::get().is_lost()) {
      return launch_failed;
    }
    return call(Imitation::get());
  } catch (const std::exception&) {
    return invalid_value;
  }
}

Stream& stream_of(cuda::StreamTag* stream) {
  return *reinterpret_cast<Stream*>(stream);
}

struct RecordedEvent {
  std::unique_ptr<Event> event;
};

/// The kinds of a kernel's parameters, by their declarations.
std::vector<Parameter> parameters_of(const std::string& declarations) {
  std::vector<Parameter> parameters;
  for (std::size_t begin = 0; begin < declarations.size();) {
    const std::size_t end = std::min(declarations.find(',', begin), declarations.size());
    const std::string one = declarations.substr(begin, end - begin);
    parameters.push_back(one.find("LOCATION") != std::string::npos ? Parameter::location
                         : one.find("i64") != std::string::npos    ? Parameter::integer
                                                                   : Parameter::real);
    begin = end + 1;
  }
  return parameters;
}

}  // namespace

// What is looked up by its name.
#define EXPORT extern "C" __attribute__((visibility("default"))) cuda::Result

EXPORT cuInit(unsigned /*flags*/) {
  return 0;
}
EXPORT cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}
EXPORT cuDeviceGetCount(int* count) {
  *count = list_opencl().empty() ? 0 : 1;
  return 0;
}
EXPORT cuDeviceGet(cuda::DeviceNumber* device, int index) {
  *device = index;
  return index == 0 ? 0 : invalid_value;
}
EXPORT cuDeviceGetName(char* name, int bytes, cuda::DeviceNumber /*device*/) {
  std::strncpy(name, "imitation", static_cast<std::size_t>(bytes));
  return 0;
}
EXPORT cuDeviceGetUuid(std::uint8_t (*identity)[16], cuda::DeviceNumber /*device*/) {
  std::memcpy(*identity, "imitated device", sizeof *identity);
  return 0;
}
EXPORT cuDeviceTotalMem_v2(std::size_t* bytes, cuda::DeviceNumber /*device*/) {
  *bytes = memory_bytes;
  return 0;
}
EXPORT cuDeviceGetAttribute(int* value, cuda::Attribute attribute, cuda::DeviceNumber /*device*/) {
  switch (attribute) {
    case cuda::Attribute::max_threads_per_block:
      *value = 1024;
      return 0;
    case cuda::Attribute::warp_size:
      *value = 32;
      return 0;
    case cuda::Attribute::multiprocessor_count:
      *value = 2;
      return 0;
    case cuda::Attribute::l2_cache_bytes:
      *value = 4 << 20;
      return 0;
    case cuda::Attribute::compute_capability_major:
      *value = 9;
      return 0;
    case cuda::Attribute::compute_capability_minor:
      *value = 0;
      return 0;
    case cuda::Attribute::max_shared_memory_per_block_optin:
      *value = 232448;
      return 0;
  }
  return invalid_value;
}
EXPORT cuDevicePrimaryCtxRetain(cuda::ContextTag** context, cuda::DeviceNumber /*device*/) {
  *context = reinterpret_cast<cuda::ContextTag*>(&Imitation::get());
  return 0;
}
EXPORT cuDevicePrimaryCtxRelease_v2(cuda::DeviceNumber /*device*/) {
  return 0;
}
EXPORT cuCtxPushCurrent_v2(cuda::ContextTag* context) {
  ++contexts;
  return context == nullptr ? invalid_context : 0;
}
EXPORT cuCtxPopCurrent_v2(cuda::ContextTag** context) {
  *context = nullptr;
  return --contexts < 0 ? invalid_context : 0;
}
EXPORT cuMemGetInfo_v2(std::size_t* available, std::size_t* all) {
  return guarded([&](Imitation& imitation) {
    const std::scoped_lock lock(imitation.mutex);
    *all = memory_bytes;
    *available = memory_bytes - imitation.taken_bytes;
    return 0;
  });
}
EXPORT cuMemAlloc_v2(cuda::Pointer* pointer, std::size_t bytes) {
  return guarded([&](Imitation& imitation) {
    const std::scoped_lock lock(imitation.mutex);
    if (bytes == 0) {
      return invalid_value;
    }
    if (imitation.taken_bytes + bytes > memory_bytes) {
      return cuda::out_of_memory;
    }
    const int file = memfd_create("imitated device memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
      return cuda::out_of_memory;
    }
    *pointer = imitation.keep(file, bytes);
    imitation.taken_bytes += bytes;
    return 0;
  });
}
EXPORT cuMemFree_v2(cuda::Pointer pointer) {
  return guarded([&](Imitation& imitation) {
    const std::scoped_lock lock(imitation.mutex);
    const auto found = imitation.memory.find(pointer);
    if (found == imitation.memory.end() || imitation.opened.contains(pointer)) {
      return invalid_value;
    }
    imitation.taken_bytes -= found->second->bytes();
    imitation.memory.erase(found);
    return 0;
  });
}
EXPORT cuIpcGetMemHandle(cuda::IpcHandle* handle, cuda::Pointer pointer) {
  return guarded([&](Imitation& imitation) {
    const std::scoped_lock lock(imitation.mutex);
    const auto found = imitation.memory.find(pointer);
    if (found == imitation.memory.end() || imitation.opened.contains(pointer)) {
      return invalid_value;
    }
    const Handle named{.process = getpid(), .file = found->second->file(), .bytes = found->second->bytes()};
    std::memcpy(handle->bytes.data(), &named, sizeof named);
    return 0;
  });
}
EXPORT cuIpcOpenMemHandle_v2(cuda::Pointer* pointer, cuda::IpcHandle handle, unsigned flags) {
  return guarded([&](Imitation& imitation) {
    const std::scoped_lock lock(imitation.mutex);
    Handle named{};
    std::memcpy(&named, handle.bytes.data(), sizeof named);
    if (named.process == getpid() || flags != cuda::ipc_lazy_peer_access) {
      return invalid_context;
    }
    const std::string path = "/proc/" + std::to_string(named.process) + "/fd/" + std::to_string(named.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) {
      return invalid_value;
    }
    *pointer = imitation.keep(file, named.bytes);
    imitation.opened.insert(*pointer);
    return 0;
  });
}
EXPORT cuIpcCloseMemHandle(cuda::Pointer pointer) {
  return guarded([&](Imitation& imitation) {
    const std::scoped_lock lock(imitation.mutex);
    if (imitation.opened.erase(pointer) == 0) {
      return invalid_value;
    }
    imitation.memory.erase(pointer);
    return 0;
  });
}
EXPORT cuDeviceCanAccessPeer(int* can_access, cuda::DeviceNumber /*device*/, cuda::DeviceNumber /*peer*/) {
  *can_access = 0;  // there is one device
  return 0;
}
EXPORT cuCtxEnablePeerAccess(cuda::ContextTag* /*peer*/, unsigned /*flags*/) {
  return invalid_value;
}
EXPORT cuMemHostAlloc(void** data, std::size_t bytes, unsigned /*flags*/) {
  return guarded([&](Imitation& /*imitation*/) {
    *data = std::malloc(bytes);
    return *data == nullptr ? cuda::out_of_memory : 0;
  });
}
EXPORT cuMemFreeHost(void* data) {
  std::free(data);
  return 0;
}
EXPORT cuMemHostRegister_v2(void* data, std::size_t bytes, unsigned /*flags*/) {
  return guarded([&](Imitation& imitation) {
    const std::scoped_lock lock(imitation.mutex);
    if (bytes == 0) {
      return invalid_value;
    }
    return imitation.registered.insert(data).second ? 0 : cuda::already_registered;
  });
}
EXPORT cuMemHostUnregister(void* data) {
  return guarded([&](Imitation& imitation) {
    const std::scoped_lock lock(imitation.mutex);
    return imitation.registered.erase(data) == 1 ? 0 : invalid_value;
  });
}
EXPORT cuMemcpy2DAsync_v2(const cuda::Copy2D* copy, cuda::StreamTag* stream) {
  return guarded([&](Imitation& imitation) {
    Rows rows{.row_bytes = copy->width_bytes, .rows = copy->height};
    if (copy->source_type == 1) {
      rows.host_pitch = copy->source_pitch;
      rows.device_pitch = copy->destination_pitch;
      stream_of(stream).copy_to_device(imitation.find(copy->destination_device),
                                       static_cast<const std::byte*>(copy->source_host), rows);
    } else {
      rows.host_pitch = copy->destination_pitch;
      rows.device_pitch = copy->source_pitch;
      stream_of(stream).copy_to_host(static_cast<std::byte*>(copy->destination_host),
                                     imitation.find(copy->source_device), rows);
    }
    return 0;
  });
}
EXPORT cuMemcpyHtoDAsync_v2(cuda::Pointer to, const void* from, std::size_t bytes, cuda::StreamTag* stream) {
  return guarded([&](Imitation& imitation) {
    stream_of(stream).copy_to_device(imitation.find(to), static_cast<const std::byte*>(from), {.row_bytes = bytes});
    return 0;
  });
}
EXPORT cuMemcpyDtoHAsync_v2(void* to, cuda::Pointer from, std::size_t bytes, cuda::StreamTag* stream) {
  return guarded([&](Imitation& imitation) {
    stream_of(stream).copy_to_host(static_cast<std::byte*>(to), imitation.find(from), {.row_bytes = bytes});
    return 0;
  });
}
EXPORT cuMemcpyAsync(cuda::Pointer to, cuda::Pointer from, std::size_t bytes, cuda::StreamTag* stream) {
  return guarded([&](Imitation& imitation) {
    stream_of(stream).copy(imitation.find(to), imitation.find(from), bytes);
    return 0;
  });
}
EXPORT cuStreamCreate(cuda::StreamTag** stream, unsigned /*flags*/) {
  return guarded([&](Imitation& imitation) {
    const std::scoped_lock lock(imitation.mutex);
    *stream = reinterpret_cast<cuda::StreamTag*>(imitation.device().make_stream().release());
    imitation.streams.insert(*stream);
    return 0;
  });
}
EXPORT cuStreamDestroy_v2(cuda::StreamTag* stream) {
  {
    const std::scoped_lock lock(Imitation::get().mutex);
    Imitation::get().streams.erase(stream);
  }
  delete reinterpret_cast<Stream*>(stream);
  return 0;
}
EXPORT cuStreamSynchronize(cuda::StreamTag* stream) {
  bool is_ours = false;
  {
    const std::scoped_lock lock(Imitation::get().mutex);
    is_ours = Imitation::get().streams.contains(stream);
    Imitation::get().waits[stream] += is_ours ? 0 : 1;
  }
  if (is_ours) {
    stream_of(stream).finish();  // a lost device does no more either
  }
  return guarded([](Imitation& /*imitation*/) { return 0; });
}
EXPORT imitated_waits(cuda::StreamTag* stream) {
  const std::scoped_lock lock(Imitation::get().mutex);
  return Imitation::get().waits[stream];
}
EXPORT cuStreamWaitEvent(cuda::StreamTag* stream, cuda::EventTag* event, unsigned /*flags*/) {
  return guarded([&](Imitation& /*imitation*/) {
    stream_of(stream).wait(*reinterpret_cast<RecordedEvent*>(event)->event);
    return 0;
  });
}
EXPORT cuEventCreate(cuda::EventTag** event, unsigned /*flags*/) {
  *event = reinterpret_cast<cuda::EventTag*>(new RecordedEvent);
  return 0;
}
EXPORT cuEventDestroy_v2(cuda::EventTag* event) {
  delete reinterpret_cast<RecordedEvent*>(event);
  return 0;
}
EXPORT cuEventRecord(cuda::EventTag* event, cuda::StreamTag* stream) {
  return guarded([&](Imitation& /*imitation*/) {
    reinterpret_cast<RecordedEvent*>(event)->event = stream_of(stream).record();
    return 0;
  });
}
EXPORT cuEventQuery(cuda::EventTag* event) {
  return guarded([&](Imitation& /*imitation*/) {
    return reinterpret_cast<RecordedEvent*>(event)->event->is_done() ? 0 : cuda::not_ready;
  });
}
EXPORT cuEventSynchronize(cuda::EventTag* event) {
  return guarded([&](Imitation& /*imitation*/) {
    reinterpret_cast<RecordedEvent*>(event)->event->wait();
    return 0;
  });
}
EXPORT cuEventElapsedTime(float* elapsed_ms, cuda::EventTag* begin, cuda::EventTag* end) {
  return guarded([&](Imitation& /*imitation*/) {
    *elapsed_ms = static_cast<float>(1e3 * reinterpret_cast<RecordedEvent*>(end)->event->seconds_since(
                                               *reinterpret_cast<RecordedEvent*>(begin)->event));
    return 0;
  });
}
EXPORT cuModuleLoadData(cuda::ModuleTag** module, const void* image) {
  return guarded([&](Imitation& imitation) {
    // OpenCL has a prelude of its own.
    std::string source = static_cast<const char*>(image);
    const std::string prelude_end = "typedef long long i64;\n";
    source.erase(0, source.find(prelude_end) + prelude_end.size());
    const std::size_t kernel = source.find("\nKERNEL(");
    const std::size_t name = source.find(") ", kernel) + 2;
    const std::size_t open = source.find('(', name);
    const std::size_t close = source.find(") {", open);
    auto loaded = std::make_unique<Module>();
    loaded->name = source.substr(name, open - name);
    loaded->parameters = parameters_of(source.substr(open + 1, close - open - 1));
    loaded->is_double = source.find("typedef double real;") != std::string::npos;
    loaded->kernel = imitation.device().compile(source, loaded->name);
    *module = reinterpret_cast<cuda::ModuleTag*>(loaded.release());
    return 0;
  });
}
EXPORT cuModuleUnload(cuda::ModuleTag* module) {
  delete reinterpret_cast<Module*>(module);
  return 0;
}
EXPORT cuModuleGetFunction(cuda::FunctionTag** function, cuda::ModuleTag* module, const char* name) {
  *function = reinterpret_cast<cuda::FunctionTag*>(module);
  return reinterpret_cast<Module*>(module)->name == name ? 0 : invalid_value;
}
EXPORT cuFuncSetAttribute(cuda::FunctionTag* /*function*/, int attribute, int /*value*/) {
  return attribute == cuda::max_dynamic_shared_bytes ? 0 : invalid_value;
}
EXPORT cuLaunchKernel(cuda::FunctionTag* function, unsigned groups, unsigned groups_y, unsigned groups_z,
                      unsigned items, unsigned items_y, unsigned items_z, unsigned local_bytes, cuda::StreamTag* stream,
                      void** values, void** /*extra*/) {
  return guarded([&](Imitation& imitation) {
    if (--imitation.launches_left < 0) {
      return launch_failed;
    }
    if (groups_y * groups_z * items_y * items_z != 1 || items > 1024 || local_bytes > 232448) {
      return invalid_value;
    }
    const Module& module = *reinterpret_cast<Module*>(function);
    std::vector<Argument> arguments;
    std::size_t value = 0;
    for (const Parameter parameter : module.parameters) {
      void* const at = values[value++];
      if (parameter == Parameter::location) {
        const auto pointer = *static_cast<const cuda::Pointer*>(at);
        const auto offset = *static_cast<const std::int64_t*>(values[value++]);
        arguments.emplace_back(imitation.find(pointer) + static_cast<std::uint64_t>(offset));
      } else if (parameter == Parameter::integer) {
        arguments.emplace_back(*static_cast<const std::int64_t*>(at));
      } else if (module.is_double) {
        arguments.emplace_back(*static_cast<const double*>(at));
      } else {
        arguments.emplace_back(*static_cast<const float*>(at));
      }
    }
    stream_of(stream).launch(*module.kernel, groups, items, local_bytes, arguments);
    return 0;
  });
}
EXPORT cuGetErrorName(cuda::Result result, const char** name) {
  *name = result == launch_failed ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
EXPORT cuGetErrorString(cuda::Result result, const char** text) {
  *text = result == launch_failed ? "unspecified launch failure" : "invalid argument";
  return 0;
}
