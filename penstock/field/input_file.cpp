// Fields read from .npy files.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/field/field.hpp"

namespace penstock::field {
namespace {

FileDescription description_of(const std::string& path, const npy::Header& header) {
  const auto& shape = header.shape;
  if (shape.size() != 3) {
    throw Error(fmt::format("{}: an array of {} dimensions; a field has three, with the shape (nz, ny, nx)", path,
                            shape.size()));
  }
  if (header.elements() == 0) {
    throw Error(fmt::format("{}: an array of shape ({}, {}, {}) has no elements; each direction needs at least 1 point",
                            path, shape[0], shape[1], shape[2]));
  }
  return {.size = {shape[2], shape[1], shape[0]}, .data_type = header.type};
}

class InputFile final : public Source {
 public:
  explicit InputFile(const std::string& path) : reader_(path) { description_of(path, reader_.header()); }
  void fill(const fft::Box& box, int, std::span<float> numbers) const override { fill_as(box, numbers); }
  void fill(const fft::Box& box, int, std::span<double> numbers) const override { fill_as(box, numbers); }

 private:
  template <class Real>
  void fill_as(const fft::Box& box, std::span<Real> numbers) const {
    const npy::DataType type = reader_.header().type;
    const bool is_single = type == npy::DataType::float32 || type == npy::DataType::complex64;
    if (is_single == std::is_same_v<Real, float>) {
      read(box, std::as_writable_bytes(numbers));
    } else if (is_single) {
      convert<float>(box, numbers);
    } else {
      convert<double>(box, numbers);
    }
  }

  void read(const fft::Box& box, std::span<std::byte> bytes) const {
    const std::array start{box.lower[2], box.lower[1], box.lower[0]};
    const std::array extent{box.extent[2], box.extent[1], box.extent[0]};
    reader_.read_box(start, extent, bytes);
  }

  /// Reads a plane at a time in the file's precision.
  template <class Stored, class Real>
  void convert(const fft::Box& box, std::span<Real> numbers) const {
    if (box.count() == 0) {
      return;
    }
    const auto plane_numbers = numbers.size() / static_cast<std::size_t>(box.extent[2]);
    std::vector<Stored> stored(plane_numbers);
    fft::Box plane = box;
    plane.extent[2] = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(box.extent[2]); ++i, ++plane.lower[2]) {
      read(plane, std::as_writable_bytes(std::span(stored)));
      std::transform(stored.begin(), stored.end(), numbers.begin() + static_cast<std::ptrdiff_t>(i * plane_numbers),
                     [](Stored number) { return static_cast<Real>(number); });
    }
  }

  npy::Reader reader_;
};

}  // namespace

FileDescription inspect_file(const gas::Team& team, const std::string& path) {
  FileDescription file;
  team.together([&] { file = description_of(path, npy::read_header(path)); });
  team.agree_on("file " + path,
                fmt::format("{}x{}x{} {}", file.size[0], file.size[1], file.size[2], npy::name(file.data_type)));
  return file;
}

std::unique_ptr<Source> open_file(const std::string& path) {
  return std::make_unique<InputFile>(path);
}

}  // namespace penstock::field
