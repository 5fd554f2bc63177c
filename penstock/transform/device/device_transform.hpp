// Transforms of pencils in device memory, by kernels that are written for a shape and compiled at run time. Like the
// transforms on the processor they are movers that transform on the way. Included by transform.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "penstock/device/device.hpp"
#include "penstock/transform/kind.hpp"

#pragma GCC visibility push(default)

namespace penstock::transform {

/// Which numbers lie side by side at one end of a transform.
enum class Adjacent {
  points,   ///< those of a pencil
  pencils,  ///< those of the same point of neighbouring pencils
};

/// What a transform on a device is written for.
struct DeviceShape {
  std::int64_t length = 0;      ///< points of a pencil; of the real one, where one side is complex and one real
  Kind kind = Kind::forward;    ///< a Fourier transform of complex numbers, or between real and complex ones
  std::int64_t real_bytes = 8;  ///< 8 for double precision, 4 for single
  Adjacent source = Adjacent::points;
  Adjacent destination = Adjacent::points;
  bool has_source_table = false;  ///< see DeviceEnd::table
  bool has_destination_table = false;
  bool operator==(const DeviceShape&) const = default;
};

/// Where the pencils of a run lie at one end. Pencil (i, o) is the i-th across at outer index o. Its point k lies
///
///     k * point_stride + i * pencil_stride + (first_outer + o) * outer_stride
///
/// numbers after `base`; a number is real or complex as the kind has it there. Where the shape has a table for this
/// end, row k of the table has what takes the place of k * point_stride, and the other two strides.
struct DeviceEnd {
  device::Location base;
  std::int64_t point_stride = 0;
  std::int64_t pencil_stride = 0;
  std::int64_t outer_stride = 0;
  std::int64_t first_outer = 0;
  device::Location table{};  ///< of TableRow, one for each point, in device memory
};

/// A row of a DeviceEnd's table.
struct TableRow {
  std::int64_t offset = 0;
  std::int64_t pencil_stride = 0;
  std::int64_t outer_stride = 0;
};

/// The pencils of a run, `pencils` at each of `outers` outer indices, and the factor on the result.
struct DevicePencils {
  std::int64_t pencils = 0;
  std::int64_t outers = 0;
  double factor = 1;
};

struct DeviceProgram;

/// The kernels of one device, each compiled when it is first needed. Not thread-safe.
class KernelLibrary {
 public:
  explicit KernelLibrary(std::shared_ptr<const device::Device> device);
  ~KernelLibrary();
  KernelLibrary(KernelLibrary&&) noexcept;
  KernelLibrary& operator=(KernelLibrary&&) noexcept;

  const device::Device& device() const noexcept { return *device_; }
  /// The kernel of a source, compiled or remembered.
  std::shared_ptr<const device::Kernel> kernel(const std::string& source, const std::string& name);
  /// The constants of a source, in device memory, uploaded or remembered.
  std::shared_ptr<const device::Memory> constants(const DeviceProgram& program);

 private:
  std::shared_ptr<const device::Device> device_;
  std::map<std::string, std::shared_ptr<const device::Kernel>> kernels_;
  std::map<std::array<std::int64_t, 3>, std::shared_ptr<const device::Memory>> constants_;
};

/// Why a device cannot transform pencils of a shape, as the end of a sentence; empty where it can.
std::string obstacle(const device::Properties& properties, const DeviceShape& shape);

/// The device memory that transforms of a shape read besides their pencils: those of one length and precision share it.
/// The device must be able to transform the shape.
std::uint64_t constants_bytes(const device::Properties& properties, const DeviceShape& shape);

/// Discrete Fourier transforms of many pencils in device memory.
class DeviceTransform {
 public:
  /// Throws Error where the device cannot (see `obstacle`), or cannot compile the kernel.
  DeviceTransform(KernelLibrary& library, const DeviceShape& shape);
  ~DeviceTransform();
  DeviceTransform(DeviceTransform&&) noexcept;
  DeviceTransform& operator=(DeviceTransform&&) noexcept;

  const DeviceShape& shape() const noexcept;
  /// Begins a run on `stream`. The destination may be the source where both ends are the same and have one order. Else
  /// they may not overlap. Throws Error as the stream does.
  void run(device::Stream& stream, const DeviceEnd& source, const DeviceEnd& destination,
           const DevicePencils& pencils) const;
  /// One line for people: the radices, the pencils of a work-group and its items.
  std::string describe() const;

 private:
  struct Plan;
  std::unique_ptr<const Plan> plan_;
};

/// A copy of a box in device memory. Direction 0 is the one whose points lie side by side at the destination.
struct BoxCopy {
  std::int64_t element_bytes = 0;  ///< 4, 8 or 16
  std::array<std::int64_t, 3> extent{};
  std::array<std::int64_t, 3> source_strides{};       ///< in elements
  std::array<std::int64_t, 3> destination_strides{};  ///< in elements
};

/// Begins a copy on `stream`; the two may not overlap. Throws Error as the stream does.
void copy(KernelLibrary& library, device::Stream& stream, const device::Location& source,
          const device::Location& destination, const BoxCopy& box);

}  // namespace penstock::transform

#pragma GCC visibility pop
