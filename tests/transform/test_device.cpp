// Transforms of pencils on devices, compared with the definition: any lengths, kinds, ends. On systems without a device
// nothing runs, and the test says so.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <type_traits>

#include "penstock/base/base.hpp"
#include "penstock/device/device.hpp"
#include "penstock/transform/transform.hpp"
#include "tests/definition.hpp"
#include "tests/fails_with.hpp"

namespace penstock::transform {
namespace {

/// Opens the first device, or skips the test.
class OnDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (device::list().empty()) {
      GTEST_SKIP() << "this system has no device";
    }
    library_.emplace(device::open());
  }
  KernelLibrary& library() { return *library_; }

 private:
  std::optional<KernelLibrary> library_;
};

template <class Number>
std::unique_ptr<device::Memory> upload(const device::Device& device, std::span<const Number> numbers) {
  auto memory = device.allocate(numbers.size_bytes());
  const auto stream = device.make_stream();
  stream->copy_to_device(memory->location(), reinterpret_cast<const std::byte*>(numbers.data()),
                         {.row_bytes = numbers.size_bytes()});
  stream->finish();
  return memory;
}

template <class Number>
std::vector<Number> download(const device::Device& device, const device::Memory& memory) {
  std::vector<Number> numbers(memory.bytes() / sizeof(Number));
  const auto stream = device.make_stream();
  stream->copy_to_host(reinterpret_cast<std::byte*>(numbers.data()), memory.location(), {.row_bytes = memory.bytes()});
  stream->finish();
  return numbers;
}

/// Pencils with gaps between them, in one of the two orders.
struct Layout {
  std::int64_t points = 0;
  std::int64_t pencils = 0;
  std::int64_t outers = 0;
  Adjacent adjacent = Adjacent::points;
  std::int64_t gap = 0;

  std::int64_t point_stride() const { return adjacent == Adjacent::points ? 1 : pencils + gap; }
  std::int64_t pencil_stride() const { return adjacent == Adjacent::points ? points + gap : 1; }
  std::int64_t outer_stride() const { return (points + gap) * (pencils + gap); }
  std::int64_t numbers() const { return outers * outer_stride(); }
  std::size_t at(std::int64_t k, std::int64_t i, std::int64_t o) const {
    return static_cast<std::size_t>(k * point_stride() + i * pencil_stride() + o * outer_stride());
  }
  std::vector<TableRow> table() const {
    std::vector<TableRow> rows;
    for (std::int64_t k = 0; k < points; ++k) {
      rows.push_back({k * point_stride(), pencil_stride(), outer_stride()});
    }
    return rows;
  }
  DeviceEnd end(const device::Location& base) const {
    return {
        .base = base, .point_stride = point_stride(), .pencil_stride = pencil_stride(), .outer_stride = outer_stride()};
  }
};

/// Pencils of random numbers and a device's transform of them: the largest error, by the norm of its pencil's result.
template <class Real>
double error_of(KernelLibrary& library, const DeviceShape& shape, std::int64_t pencils, std::int64_t outers,
                std::int64_t gap) {
  const device::Device& device = library.device();
  const std::int64_t half = shape.length / 2 + 1;
  const bool is_real_source = shape.kind == Kind::real_to_complex;
  const bool is_real_destination = shape.kind == Kind::complex_to_real;
  const Layout from{is_real_destination ? half : shape.length, pencils, outers, shape.source, gap};
  const Layout to{is_real_source ? half : shape.length, pencils, outers, shape.destination, gap};
  const std::int64_t from_parts = is_real_source ? 1 : 2;
  const std::int64_t to_parts = is_real_destination ? 1 : 2;

  std::mt19937_64 random(static_cast<std::uint64_t>(shape.length));
  std::uniform_real_distribution<Real> number(-1, 1);
  std::vector<Real> source(static_cast<std::size_t>(from.numbers() * from_parts));
  for (Real& value : source) {
    value = number(random);
  }
  const Real untouched = 12345;
  const std::vector<Real> before(static_cast<std::size_t>(to.numbers() * to_parts), untouched);
  const auto source_memory = upload<Real>(device, source);
  const auto destination_memory = upload<Real>(device, before);
  DeviceEnd source_end = from.end(source_memory->location());
  DeviceEnd destination_end = to.end(destination_memory->location());
  const auto source_table = upload<TableRow>(device, from.table());
  const auto destination_table = upload<TableRow>(device, to.table());
  source_end.table = source_table->location();
  destination_end.table = destination_table->location();

  const DeviceTransform transform(library, shape);
  const auto stream = device.make_stream();
  const double factor = 0.75;
  const auto run = [&](std::int64_t first, std::int64_t count) {
    source_end.first_outer = first;
    destination_end.first_outer = first;
    transform.run(*stream, source_end, destination_end, {.pencils = pencils, .outers = count, .factor = factor});
  };
  run(0, outers / 2);
  run(outers / 2, outers - outers / 2);
  stream->finish();
  const std::vector<Real> result = download<Real>(device, *destination_memory);

  double worst = 0;
  std::vector<bool> is_written(result.size());
  for (std::int64_t o = 0; o < outers; ++o) {
    for (std::int64_t i = 0; i < pencils; ++i) {
      std::vector<Long> x(static_cast<std::size_t>(shape.length));
      for (std::int64_t k = 0; k < from.points; ++k) {
        const std::size_t at = from.at(k, i, o) * static_cast<std::size_t>(from_parts);
        Long value{source[at], is_real_source ? 0 : source[at + 1]};
        if (is_real_destination) {
          if (k == 0 || 2 * k == shape.length) {
            value.imag(0);
          }
          x[static_cast<std::size_t>((shape.length - k) % shape.length)] = std::conj(value);
        }
        x[static_cast<std::size_t>(k)] = value;
      }
      const bool is_backward = shape.kind == Kind::backward || is_real_destination;
      for (Long& value : x) {
        value = is_backward ? std::conj(value) : value;
      }
      std::vector<Long> y = by_definition(x);
      long double norm = 0;
      long double error = 0;
      for (std::int64_t k = 0; k < to.points; ++k) {
        const Long wanted = static_cast<long double>(factor) *
                            (is_backward ? std::conj(y[static_cast<std::size_t>(k)]) : y[static_cast<std::size_t>(k)]);
        const std::size_t at = to.at(k, i, o) * static_cast<std::size_t>(to_parts);
        is_written[at] = true;
        is_written[at + static_cast<std::size_t>(to_parts) - 1] = true;
        const Long got{result[at], is_real_destination ? 0 : result[at + 1]};
        norm += std::norm(wanted);
        error += std::norm(got - wanted);
      }
      worst = std::max(worst, static_cast<double>(std::sqrt(error / std::max(norm, 1e-300L))));
    }
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    EXPECT_TRUE(is_written[i] || result[i] == untouched) << "number " << i << " is written, which is none of a pencil";
  }
  return worst;
}

constexpr double tolerance(std::int64_t real_bytes) {
  return real_bytes == 8 ? 2e-15 : 1e-6;
}

double error_of(KernelLibrary& library, const DeviceShape& shape, std::int64_t pencils, std::int64_t outers,
                std::int64_t gap) {
  return shape.real_bytes == 8 ? error_of<double>(library, shape, pencils, outers, gap)
                               : error_of<float>(library, shape, pencils, outers, gap);
}

void check_lengths(KernelLibrary& library, std::int64_t real_bytes, std::initializer_list<std::int64_t> lengths) {
  for (const std::int64_t length : lengths) {
    for (const Kind kind : {Kind::forward, Kind::backward, Kind::real_to_complex, Kind::complex_to_real}) {
      const DeviceShape shape{.length = length, .kind = kind, .real_bytes = real_bytes};
      EXPECT_LT(error_of(library, shape, 5, 2, 0), tolerance(real_bytes))
          << "length " << length << ", kind " << static_cast<int>(kind) << ", " << real_bytes << " bytes";
    }
  }
}

// Lengths that one pass transforms, some passes, all radices, and convolutions. A kernel takes a third of a second to
// compile.
TEST_F(OnDevices, AllKindsAndLengthsAreTransformed) {
  check_lengths(library(), 8, {1, 2, 3, 7, 17, 37, 60, 100, 128, 169, 198, 250});
  check_lengths(library(), 4, {1, 19, 96, 143, 256});
}

TEST_F(OnDevices, PencilsMayLieInAnyOrderAndByTables) {
  for (const Kind kind : {Kind::forward, Kind::real_to_complex, Kind::complex_to_real}) {
    for (const Adjacent source : {Adjacent::points, Adjacent::pencils}) {
      for (const Adjacent destination : {Adjacent::points, Adjacent::pencils}) {
        for (const bool has_tables : {false, true}) {
          const DeviceShape shape{.length = 24,
                                  .kind = kind,
                                  .source = source,
                                  .destination = destination,
                                  .has_source_table = has_tables,
                                  .has_destination_table = has_tables};
          EXPECT_LT(error_of(library(), shape, 11, 3, 2), tolerance(8));
        }
      }
    }
  }
}

TEST_F(OnDevices, WhatADeviceCannotTransformIsSaid) {
  const device::Properties& properties = library().device().properties();
  EXPECT_NE(obstacle(properties, {.length = 8, .kind = Kind::redft10}).find("no sine"), std::string::npos);
  EXPECT_NE(obstacle(properties, {.length = 1 << 24}).find("local memory"), std::string::npos);
  device::Properties single = properties;
  single.has_double = false;
  EXPECT_NE(obstacle(single, {.length = 8}).find("double precision"), std::string::npos);
  EXPECT_TRUE(
      fails_with({"cannot transform", "local memory"}, [&] { DeviceTransform(library(), {.length = 1 << 24}); }));
}

TEST_F(OnDevices, BoxesAreCopied) {
  const device::Device& device = library().device();
  for (const std::int64_t bytes : {4, 8, 16}) {
    std::vector<std::int32_t> source(static_cast<std::size_t>(bytes / 4 * 5 * 6 * 7));
    for (std::size_t i = 0; i < source.size(); ++i) {
      source[i] = static_cast<std::int32_t>(i);
    }
    const auto from = upload<std::int32_t>(device, source);
    const auto to = upload<std::int32_t>(device, std::vector<std::int32_t>(source.size(), -1));
    const auto stream = device.make_stream();
    // The points of [5][6][7], as [6][5][7].
    copy(
        library(), *stream, from->location(), to->location(),
        {.element_bytes = bytes, .extent = {7, 5, 6}, .source_strides = {1, 42, 7}, .destination_strides = {1, 7, 35}});
    stream->finish();
    const std::vector<std::int32_t> result = download<std::int32_t>(device, *to);
    const auto words = static_cast<std::size_t>(bytes / 4);
    for (std::size_t a = 0; a < 5; ++a) {
      for (std::size_t b = 0; b < 6; ++b) {
        for (std::size_t c = 0; c < 7 * words; ++c) {
          EXPECT_EQ(result[(b * 5 + a) * 7 * words + c], source[(a * 6 + b) * 7 * words + c]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace penstock::transform
