#include "penstock/transform/device/device_transform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/transform/device/device_program.hpp"

namespace penstock::transform {

KernelLibrary::KernelLibrary(std::shared_ptr<const device::Device> device) : device_(std::move(device)) {}
KernelLibrary::~KernelLibrary() = default;
KernelLibrary::KernelLibrary(KernelLibrary&&) noexcept = default;
KernelLibrary& KernelLibrary::operator=(KernelLibrary&&) noexcept = default;

std::shared_ptr<const device::Kernel> KernelLibrary::kernel(const std::string& source, const std::string& name) {
  std::shared_ptr<const device::Kernel>& kernel = kernels_[source];
  if (kernel == nullptr) {
    kernel = device_->compile(source, name);
  }
  return kernel;
}

std::shared_ptr<const device::Memory> KernelLibrary::constants(const DeviceProgram& program) {
  std::shared_ptr<const device::Memory>& memory =
      constants_[{program.shape.length, program.points, program.shape.real_bytes}];
  if (memory == nullptr) {
    const std::vector<std::byte> bytes = write_constants(program);
    std::shared_ptr<const device::Memory> made = device_->allocate(bytes.size());
    const std::unique_ptr<device::Stream> stream = device_->make_stream();
    stream->copy_to_device(made->location(), bytes.data(), {.row_bytes = bytes.size()});
    stream->finish();
    memory = std::move(made);
  }
  return memory;
}

std::string obstacle(const device::Properties& properties, const DeviceShape& shape) {
  return choose_program(properties, shape).obstacle;
}

std::uint64_t constants_bytes(const device::Properties& properties, const DeviceShape& shape) {
  return constants_bytes(choose_program(properties, shape).program);
}

struct DeviceTransform::Plan {
  DeviceProgram program;
  std::shared_ptr<const device::Kernel> kernel;
  std::shared_ptr<const device::Memory> constants;
};

DeviceTransform::DeviceTransform(KernelLibrary& library, const DeviceShape& shape) {
  const device::Properties& properties = library.device().properties();
  DeviceChoice choice = choose_program(properties, shape);
  if (!choice.obstacle.empty()) {
    throw Error(fmt::format("the device {} cannot transform: {}", properties.name, choice.obstacle));
  }
  auto kernel = library.kernel(write_source(choice.program), kernel_name);
  auto constants = library.constants(choice.program);
  plan_.reset(new Plan{std::move(choice.program), std::move(kernel), std::move(constants)});
}

DeviceTransform::~DeviceTransform() = default;
DeviceTransform::DeviceTransform(DeviceTransform&&) noexcept = default;
DeviceTransform& DeviceTransform::operator=(DeviceTransform&&) noexcept = default;

const DeviceShape& DeviceTransform::shape() const noexcept {
  return plan_->program.shape;
}

void DeviceTransform::run(device::Stream& stream, const DeviceEnd& source, const DeviceEnd& destination,
                          const DevicePencils& pencils) const {
  const DeviceProgram& program = plan_->program;
  const std::int64_t of_group = program.pencils * (program.is_real() ? 2 : 1);
  const std::int64_t groups = (pencils.pencils + of_group - 1) / of_group * pencils.outers;
  if (groups == 0) {
    return;
  }
  const device::Location constants = plan_->constants->location();
  const auto table_of = [&](const DeviceEnd& end, bool has_table) { return has_table ? end.table : constants; };
  const bool is_backward = program.shape.kind == Kind::backward || program.shape.kind == Kind::complex_to_real;
  const device::Argument factor = program.shape.real_bytes == 8 ? device::Argument(pencils.factor)
                                                                : device::Argument(static_cast<float>(pencils.factor));
  const std::array<device::Argument, 16> arguments{source.base,
                                                   destination.base,
                                                   constants,
                                                   table_of(source, program.shape.has_source_table),
                                                   table_of(destination, program.shape.has_destination_table),
                                                   pencils.pencils,
                                                   source.first_outer,
                                                   destination.first_outer,
                                                   std::int64_t{is_backward ? 1 : 0},
                                                   source.point_stride,
                                                   source.pencil_stride,
                                                   source.outer_stride,
                                                   destination.point_stride,
                                                   destination.pencil_stride,
                                                   destination.outer_stride,
                                                   factor};
  stream.launch(*plan_->kernel, groups, program.items, program.local_bytes(), arguments);
}

std::string DeviceTransform::describe() const {
  const DeviceProgram& program = plan_->program;
  return fmt::format("{} points by radices {}{}, {} pencils and {} items a group, {} of local memory",
                     program.shape.length, fmt::join(program.radices, " "),
                     program.is_convolution() ? fmt::format(", as a convolution of {}", program.points) : "",
                     program.pencils * (program.is_real() ? 2 : 1), program.items, format_bytes(program.local_bytes()));
}

namespace {

constexpr const char* copy_name = "copy_box";

/// An item copies an element.
std::string copy_source(std::int64_t element_bytes) {
  const char* const type = element_bytes == 4 ? "int" : "i64";
  return fmt::format(
      R"(
typedef {} word;
KERNEL(256) {}(LOCATION(source), LOCATION(destination), i64 elements, i64 extent0, i64 extent1, i64 source0, i64 source1,
    i64 source2, i64 destination0, i64 destination1, i64 destination2) {{
  const i64 number = GROUP * 256 + ITEM;
  if (number < elements) {{
    const i64 i0 = number % extent0, i1 = number / extent0 % extent1, i2 = number / extent0 / extent1;
    const i64 from = (i0 * source0 + i1 * source1 + i2 * source2) * {};
    const i64 to = (i0 * destination0 + i1 * destination1 + i2 * destination2) * {};
    for (int w = 0; w < {}; ++w) AT(word, destination)[to + w] = AT(const word, source)[from + w];
  }}
}}
)",
      type, copy_name, element_bytes == 16 ? 2 : 1, element_bytes == 16 ? 2 : 1, element_bytes == 16 ? 2 : 1);
}

}  // namespace

void copy(KernelLibrary& library, device::Stream& stream, const device::Location& source,
          const device::Location& destination, const BoxCopy& box) {
  constexpr std::int64_t items = 256;
  const std::int64_t elements = box.extent[0] * box.extent[1] * box.extent[2];
  if (elements == 0) {
    return;
  }
  const auto kernel = library.kernel(copy_source(box.element_bytes), copy_name);
  const std::array<device::Argument, 11> arguments{source,
                                                   destination,
                                                   elements,
                                                   box.extent[0],
                                                   box.extent[1],
                                                   box.source_strides[0],
                                                   box.source_strides[1],
                                                   box.source_strides[2],
                                                   box.destination_strides[0],
                                                   box.destination_strides[1],
                                                   box.destination_strides[2]};
  stream.launch(*kernel, (elements + items - 1) / items, items, 0, arguments);
}

}  // namespace penstock::transform
