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
    const bool is_single = npy::is_single(type);
    if (is_single == std::is_same_v<Real, float>) {
      reader_.read_box(box, std::as_writable_bytes(numbers));
    } else if (is_single) {
      convert<float>(box, numbers);
    } else {
      convert<double>(box, numbers);
    }
  }

  /// Reads some planes at a time in the file's precision: chunks of HDF5's are read whole for any part of them.
  template <class Stored, class Real>
  void convert(const fft::Box& box, std::span<Real> numbers) const {
    if (box.count() == 0) {
      return;
    }
    constexpr std::int64_t stored_bytes = std::int64_t{64} << 20;
    const auto plane_numbers = std::ssize(numbers) / box.extent[2];
    const auto planes = std::clamp<std::int64_t>(
        stored_bytes / (plane_numbers * static_cast<std::int64_t>(sizeof(Stored))), 1, box.extent[2]);
    std::vector<Stored> stored;
    for (std::int64_t z = 0; z < box.extent[2]; z += planes) {
      fft::Box piece = box;
      piece.lower[2] += z;
      piece.extent[2] = std::min(planes, box.extent[2] - z);
      stored.resize(static_cast<std::size_t>(piece.extent[2] * plane_numbers));
      reader_.read_box(piece, std::as_writable_bytes(std::span(stored)));
      std::ranges::transform(stored, numbers.begin() + z * plane_numbers,
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
