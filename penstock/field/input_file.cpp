// Fields read from files.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/field/field.hpp"

namespace penstock::field {
namespace {

class InputFile final : public Source {
 public:
  explicit InputFile(const std::string& name) : reader_(name) {}
  void fill(const fft::Box& box, int, std::span<float> numbers) const override { fill_as(box, numbers); }
  void fill(const fft::Box& box, int, std::span<double> numbers) const override { fill_as(box, numbers); }

 private:
  template <class Real>
  void fill_as(const fft::Box& box, std::span<Real> numbers) const {
    const npy::DataType type = reader_.type();
    const bool is_single = type == npy::DataType::float32 || type == npy::DataType::complex64;
    if (is_single == std::is_same_v<Real, float>) {
      reader_.read_box(box, std::as_writable_bytes(numbers));
    } else if (is_single) {
      convert<float>(box, numbers);
    } else {
      convert<double>(box, numbers);
    }
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
      reader_.read_box(plane, std::as_writable_bytes(std::span(stored)));
      std::transform(stored.begin(), stored.end(), numbers.begin() + static_cast<std::ptrdiff_t>(i * plane_numbers),
                     [](Stored number) { return static_cast<Real>(number); });
    }
  }

  volume::Reader reader_;
};

}  // namespace

FileDescription inspect_file(const gas::Team& team, const std::string& name) {
  FileDescription file;
  team.together([&] {
    const volume::Reader reader(name);
    file = {.size = reader.size(), .data_type = reader.type()};
  });
  team.agree_on("file " + name,
                fmt::format("{}x{}x{} {}", file.size[0], file.size[1], file.size[2], npy::name(file.data_type)));
  return file;
}

std::unique_ptr<Source> open_file(const std::string& name) {
  return std::make_unique<InputFile>(name);
}

}  // namespace penstock::field
