// Devices: accelerators that have their own memory, reached by OpenCL or by CUDA's driver, which are opened at run
// time, as their libraries of linear algebra are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::device {

/// The interface by which a device is reached.
enum class Interface { cuda, opencl };

/// What a device is. The terms are OpenCL's: the items of a work-group share local memory. (CUDA: the threads of a
/// block share the block's shared memory.)
struct Properties {
  Interface interface = Interface::opencl;
  std::int64_t number = -1;  ///< among its interface's devices, as CUDA counts them; -1: it is not listed
  std::string name;
  std::string driver;  ///< its name and version
  /// The same in all processes of a system for the same device: the UUID that the driver gives it, or else its number
  /// in OpenCL's list.
  using Identity = std::array<std::uint8_t, 16>;
  Identity identity{};
  std::uint64_t memory_bytes = 0;        ///< of the device
  std::uint64_t allocation_bytes = 0;    ///< of one Memory at most
  std::uint64_t cache_bytes = 0;         ///< of the last level between its memory and its compute units; 0: not told
  std::uint64_t local_memory_bytes = 0;  ///< of a work-group at most
  std::int64_t group_items = 0;          ///< of a work-group at most
  std::int64_t lanes = 0;                ///< the items that run in step, and whose accesses are joined (CUDA: a warp)
  std::int64_t compute_units = 0;
  bool has_double = false;
  bool is_host = false;  ///< the host's processors: device memory is host memory
};

/// A location in a device's memory: `offset` bytes into what `handle` stands for. A handle is a pointer of CUDA, or a
/// cl_mem. What it stands for belongs to a Memory or to the user.
struct Location {
  std::uint64_t handle = 0;
  std::uint64_t offset = 0;
};

/// `location` moved by `bytes`.
constexpr Location operator+(const Location& location, std::uint64_t bytes) noexcept {
  return {location.handle, location.offset + bytes};
}

/// An owned block of device memory.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual Location location() const noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;
};

/// What names a Memory to the ranks of its host: those of its process, and others as far as the device's driver lets
/// them map the memory. It may be sent; its members are this module's.
struct SharedMemory {
  Interface interface = Interface::opencl;
  std::uint64_t process = 0;       ///< a number that no other process has
  const Memory* memory = nullptr;  ///< an address of that process
  std::uint64_t bytes = 0;
  bool has_handle = false;  ///< for other processes
  std::array<std::byte, 64> handle{};
};

/// An owned block of host memory from which, and to which, a device copies at the full rate of its bus.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  virtual std::span<std::byte> bytes() const noexcept = 0;
};

/// A moment in the work of a stream. Any thread may ask.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool is_done() const = 0;
  /// Blocks. Throws Error where the device has failed.
  virtual void wait() const = 0;
  /// The seconds of the device's clock from `earlier`, an event of the same device, to this one; both are done.
  virtual double seconds_since(const Event& earlier) const = 0;
};

/// A compiled kernel. Its source is OpenCL C and CUDA C++ in one, by these words:
///
/// - KERNEL(ITEMS) before a kernel whose work-groups have ITEMS items: KERNEL(64) add(...), which returns nothing
/// - FUNCTION before any other function; GLOBAL before the type that a pointer to device memory points to
/// - i64, the type of the arguments that are std::int64_t
/// - LOCATION(NAME), the parameters of a Location, and AT(TYPE, NAME), a pointer to what is there
/// - LOCAL_MEMORY(TYPE, NAME, COUNT), an array in local memory; a kernel has at most one
/// - ITEM and GROUP, the numbers of the item in its group and of the group; BARRIER() for the items of a group
class Kernel {
 public:
  virtual ~Kernel() = default;
};

/// An argument of a kernel.
using Argument = std::variant<Location, std::int64_t, double, float>;

/// A product C = alpha op(A) op(B) + beta C of matrices in device memory, all in C order: C has m x n elements, op(A)
/// m x k and op(B) k x n. `leading` is the distance in elements between the beginnings of the rows of what is stored.
/// With beta 0, C is not read. Extents are at least 1; these and leading distances are below 2^31.
struct Product {
  /// A matrix as it is stored. With op, which is none or the transpose.
  struct Factor {
    Location location;
    std::int64_t leading = 0;
    bool is_transposed = false;
  };
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t real_bytes = 8;  ///< of an element: 4 or 8
  double alpha = 1;
  double beta = 0;
  Factor a{};
  Factor b{};
  Location c{};
  std::int64_t leading_c = 0;
};

/// A device's library of linear algebra: cuBLAS on CUDA, CLBlast on OpenCL. One thread at a time may use it.
class Blas {
 public:
  virtual ~Blas() = default;
  virtual std::string_view name() const noexcept = 0;
  /// Whether a multiply may copy A, B and C into device memory of the library's own.
  virtual bool copies_matrices() const noexcept = 0;
};

/// Rows of `row_bytes` bytes that are copied, with the bytes from row to row on the host and on the device.
struct Rows {
  std::uint64_t row_bytes = 0;
  std::uint64_t rows = 1;
  std::uint64_t host_pitch = 0;
  std::uint64_t device_pitch = 0;
};

/// Work for a device, done in the order in which it is given. Members but `finish` return at once. One thread at a time
/// may use a stream. Members throw Error where the device refuses the work or has failed.
class Stream {
 public:
  /// Waits for the work, whatever becomes of it.
  virtual ~Stream() = default;
  virtual void copy_to_device(const Location& to, const std::byte* from, const Rows& rows) = 0;
  virtual void copy_to_host(std::byte* to, const Location& from, const Rows& rows) = 0;
  /// Either place may be in memory that `Device::open_shared` has opened.
  virtual void copy(const Location& to, const Location& from, std::uint64_t bytes) = 0;
  /// Runs `groups` work-groups of `items` items. `local_bytes` is what the kernel's LOCAL_MEMORY takes.
  virtual void launch(const Kernel& kernel, std::int64_t groups, std::int64_t items, std::uint64_t local_bytes,
                      std::span<const Argument> arguments) = 0;
  /// Multiplies. `blas` is of this stream's device.
  virtual void multiply(Blas& blas, const Product& product) = 0;
  /// The moment at which all work given so far is done.
  virtual std::unique_ptr<Event> record() = 0;
  /// Work given from now on begins after `event`, which may be of another stream of this device.
  virtual void wait(const Event& event) = 0;
  /// Waits for the work.
  virtual void finish() = 0;
};

/// One device, opened. Thread-safe. Everything made by it keeps it open.
class Device {
 public:
  virtual ~Device() = default;
  virtual const Properties& properties() const noexcept = 0;
  /// The device memory that is free now; of a device that does not tell, all that it has.
  virtual std::uint64_t available_bytes() const = 0;
  /// Throws Error where there is not so much memory.
  virtual std::unique_ptr<Memory> allocate(std::uint64_t bytes) const = 0;
  /// Names memory that `allocate` of this device has made.
  virtual SharedMemory share(const Memory& memory) const = 0;
  /// Opens the memory of a rank of this host, maybe of another device of the same interface, for copies by streams of
  /// this device. What is named must live until this returns. Of the same process it then lives as long as the result;
  /// of another one it must not be used once its owner has freed it. Null where this device does not reach it.
  virtual std::unique_ptr<Memory> open_shared(const SharedMemory& shared) const = 0;
  virtual std::unique_ptr<HostMemory> allocate_host(std::uint64_t bytes) const = 0;
  /// Makes memory of the process like HostMemory until the result is destroyed; the memory must live until then. The
  /// result is null where the device does without.
  virtual std::unique_ptr<HostMemory> pin(std::span<std::byte> memory) const = 0;
  virtual std::unique_ptr<Stream> make_stream() const = 0;
  /// Waits for the work of a stream that is the program's own: a CUstream (1: CUDA's default stream; 2: the thread's
  /// own one), or a cl_command_queue. Throws Error where that work has failed.
  virtual void finish(std::uint64_t stream) const = 0;
  /// Compiles the kernel `name` of `source`. Throws Error with the compiler's text.
  virtual std::unique_ptr<Kernel> compile(const std::string& source, const std::string& name) const = 0;
  /// Throws Error where the system does not have the library.
  virtual std::unique_ptr<Blas> open_blas() const = 0;
};

/// The rates of a device's memory and of its bus.
struct Rates {
  double memory_bandwidth_bytes_per_s = 0;  ///< of copies within device memory: bytes read plus bytes written
  double to_device_bytes_per_s = 0;         ///< of copies from pinned host memory
  double to_host_bytes_per_s = 0;           ///< of copies to pinned host memory
};

/// Measures a device, in about a quarter of a second where it is an accelerator: the best of several copies of at most
/// 256 MiB, with at most `max_bytes` of its memory. Throws Error where it has not so much left, or has failed.
Rates measure_rates(const Device& device, std::uint64_t max_bytes);

/// The seconds that `work` takes at best, of a few calls after one that may find things cold; at least 1 ns. `work`
/// waits for what it gives to streams.
double min_seconds(const std::function<void()>& work);

/// The devices of this system: those of CUDA, then those of OpenCL. An accelerator that both reach is there twice.
/// Empty where there is neither interface.
std::vector<Properties> list();

/// The name by which `open` finds a device, as "cuda:0"; empty where it is not listed.
std::string selector_of(const Properties& properties);

/// Opens a device. `selector` is "cuda:N" or "opencl:N", the N-th of its interface; "N", the N-th of `list`; or empty,
/// the first that is no host, or else the first. All that open a device in a process share its context: a Location of
/// one is valid for the others. Throws Error that lists the devices where there is no such device.
std::shared_ptr<const Device> open(std::string_view selector = {});

/// The device of a user's own context, so that memory of that context can be used: a cl_context and a cl_device_id.
/// CUDA needs none: `open` uses the device's primary context, as CUDA's runtime does.
std::shared_ptr<const Device> open_opencl(void* context, void* device);

}  // namespace penstock::device

#pragma GCC visibility pop
