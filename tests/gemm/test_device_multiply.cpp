// Multiplies on a device, beside OpenBLAS's of the same matrices: random sizes, operations, scalars, distances of rows
// and limits of memory. On the first device of the system that has a BLAS.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/gemm/gemm.hpp"
#include "tests/fails_with.hpp"
#include "tests/gemm/reference.hpp"

namespace penstock::gemm {
namespace {

/// Of no device: they only decide on tiles.
constexpr DeviceRates rates{
    .flops = 1e12,
    .call_s = 1e-6,
    .copies = {.memory_bandwidth_bytes_per_s = 1e11, .to_device_bytes_per_s = 1e10, .to_host_bytes_per_s = 1e10}};

/// Whole numbers in rows that are further apart than they are long; between rows lies what is no number.
template <class T>
struct Padded {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;
  std::vector<T> elements;

  Padded(std::int64_t of_rows, std::int64_t of_columns, std::int64_t padding, std::mt19937& random)
      : rows(of_rows),
        columns(of_columns),
        leading(of_columns + padding),
        elements(static_cast<std::size_t>(of_rows * leading), std::numeric_limits<T>::quiet_NaN()) {
    for (std::int64_t i = 0; i < rows; ++i) {
      std::generate_n(elements.begin() + i * leading, columns, [&] { return static_cast<T>(random() % 9) - 4; });
    }
  }
  Block block(bool is_transposed) const {
    return {.data = reinterpret_cast<const std::byte*>(elements.data()),
            .leading = leading,
            .is_transposed = is_transposed};
  }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(elements.data()); }
};

struct Case {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool is_a_transposed = false;
  bool is_b_transposed = false;
  Scalars scalars = {};
  std::int64_t padding = 0;
  std::uint64_t memory_bytes = 0;
};

class MultiplyOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device::list().empty()) {
      GTEST_SKIP() << "this system has no device";
    }
    device = device::open();
    try {
      device->open_blas();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  /// Multiplies twice, as a plan runs often, and returns the plan.
  template <class T>
  DeviceMultiplyPlan check(const Case& given, std::mt19937& random) {
    const auto stored = [&](std::int64_t rows, std::int64_t columns, bool is_transposed) {
      return Padded<T>(is_transposed ? columns : rows, is_transposed ? rows : columns, given.padding, random);
    };
    const DeviceProduct product{
        .type = npy::data_type<T>(), .m = given.m, .n = given.n, .k = given.k, .scalars = given.scalars};
    DeviceMultiply multiply(device, product, {.memory_bytes = given.memory_bytes, .rates = rates});
    for (int run = 0; run < 2; ++run) {
      const Padded<T> a = stored(given.m, given.k, given.is_a_transposed);
      const Padded<T> b = stored(given.k, given.n, given.is_b_transposed);
      Padded<T> c(given.m, given.n, given.padding, random);
      Padded<T> expected = c;
      if (given.scalars.beta.real() == 0) {
        std::ranges::fill(c.elements, std::numeric_limits<T>::quiet_NaN());
      }
      const DeviceResult result =
          multiply.run(a.block(given.is_a_transposed), b.block(given.is_b_transposed), c.bytes(), c.leading);
      gemm::multiply(product.type, given.m, given.n, given.k, given.scalars, a.block(given.is_a_transposed),
                     b.block(given.is_b_transposed), expected.bytes(), expected.leading);
      EXPECT_EQ(wrong(c, expected), 0) << given.m << " x " << given.n << " x " << given.k << ", "
                                       << given.is_a_transposed << given.is_b_transposed << ", alpha "
                                       << given.scalars.alpha << ", beta " << given.scalars.beta << ", padding "
                                       << given.padding << ", memory " << given.memory_bytes;
      const bool is_multiplied = given.scalars.alpha.real() != 0;
      EXPECT_EQ(result.to_host_bytes, is_multiplied ? static_cast<std::uint64_t>(given.m * given.n) * sizeof(T) : 0);
      sent_bytes = result.to_device_bytes;
    }
    EXPECT_LE(multiply.plan().device_bytes,
              given.memory_bytes > 0 ? given.memory_bytes : device->properties().memory_bytes);
    return multiply.plan();
  }

  /// How many elements differ; whole numbers are exact.
  template <class T>
  static std::int64_t wrong(const Padded<T>& found, const Padded<T>& expected) {
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < found.elements.size(); ++i) {
      const bool is_padding = static_cast<std::int64_t>(i) % found.leading >= found.columns;
      wrong += is_padding ? !std::isnan(found.elements[i]) : found.elements[i] != expected.elements[i];
    }
    return wrong;
  }

  /// Any product, in memory for some tiles of it.
  static Case draw(std::mt19937& random) {
    const auto extent = [&] { return 1 + static_cast<std::int64_t>(random() % (random() % 2 == 0 ? 40 : 200)); };
    const auto scalar = [&] { return static_cast<double>(random() % 4) - 1; };
    return {.m = extent(),
            .n = extent(),
            .k = extent(),
            .is_a_transposed = random() % 2 == 0,
            .is_b_transposed = random() % 2 == 0,
            .scalars = {.alpha = scalar(), .beta = scalar()},
            .padding = static_cast<std::int64_t>(random() % 5),
            .memory_bytes = std::uint64_t{80} << (10 + random() % 4)};
  }

  std::shared_ptr<const device::Device> device;
  std::uint64_t sent_bytes = 0;  // to the device, in the last run
};

TEST_F(MultiplyOnDevice, AnyProductIsExactInAnyMemory) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE(seed);
  for (int i = 0; i < 24; ++i) {
    const Case given = draw(random);
    check<double>(given, random);
    check<float>(given, random);
  }
}

TEST_F(MultiplyOnDevice, ManyTilesAndPanelsPassThroughLittleMemory) {
  std::mt19937 random(7);
  for (const double beta : {0.0, 2.0}) {
    const DeviceMultiplyPlan plan = check<double>({.m = 230,
                                                   .n = 170,
                                                   .k = 210,
                                                   .is_a_transposed = beta == 0,
                                                   .scalars = {.alpha = -1, .beta = beta},
                                                   .padding = 3,
                                                   .memory_bytes = 100 << 10},
                                                  random);
    EXPECT_GE(plan.tiles, 12);
    EXPECT_EQ(plan.tiling.slots_c, 2);
    EXPECT_GT(sent_bytes, 2U * (230 + 170) * 210 * 8);
    // The forecast takes all panels to be as long as they are on the average.
    EXPECT_NEAR(static_cast<double>(sent_bytes), static_cast<double>(plan.to_device_bytes),
                0.1 * static_cast<double>(sent_bytes));
  }
}

TEST_F(MultiplyOnDevice, MatricesThatFitCrossTheBusOnce) {
  std::mt19937 random(8);
  const DeviceMultiplyPlan plan =
      check<float>({.m = 150, .n = 130, .k = 140, .scalars = {.alpha = 1, .beta = 1}}, random);
  EXPECT_EQ(plan.to_device_bytes, sent_bytes);
  EXPECT_EQ(sent_bytes, 4U * (150 * 140 + 140 * 130 + 150 * 130));
}

TEST_F(MultiplyOnDevice, NothingToAddUpLeavesBetaTimesC) {
  std::mt19937 random(9);
  const DeviceProduct product{.m = 5, .n = 7, .k = 0, .scalars = {.alpha = 1, .beta = 3}};
  Padded<double> c(5, 7, 2, random);
  Padded<double> expected = c;
  DeviceMultiply(device, product).run({.leading = 0}, {.leading = 7}, c.bytes(), c.leading);
  scale(product.type, 5, 7, 3, expected.bytes(), expected.leading);
  EXPECT_EQ(wrong(c, expected), 0);
  EXPECT_EQ(DeviceMultiply(device, {.m = 0, .n = 7, .k = 3}).run({.leading = 3}, {.leading = 7}, nullptr, 7).flops, 0);
}

TEST_F(MultiplyOnDevice, WhatIsMeasuredIsMoreThanNothing) {
  const DeviceRates measured = measure_device(*device, npy::DataType::float32, std::uint64_t{16} << 20);
  for (const double rate : {measured.flops, measured.call_s, measured.copies.memory_bandwidth_bytes_per_s,
                            measured.copies.to_device_bytes_per_s, measured.copies.to_host_bytes_per_s}) {
    EXPECT_GT(rate, 0);
    EXPECT_LT(rate, 1e18);
  }
}

TEST_F(MultiplyOnDevice, ProgressReachesTheEndAndBadInputIsRefused) {
  const DeviceProduct product{.m = 100, .n = 100, .k = 100};
  EXPECT_TRUE(fails_with({"1.00 KiB of device memory", "give at least"},
                         [&] { DeviceMultiply(device, product, {.memory_bytes = 1024, .rates = rates}); }));
  EXPECT_TRUE(fails_with({"float32 and float64", "complex64"},
                         [&] { DeviceMultiply(device, {.type = npy::DataType::complex64, .m = 1, .n = 1, .k = 1}); }));
  EXPECT_TRUE(fails_with({"needs a device"}, [&] { DeviceMultiply(nullptr, product); }));
  EXPECT_TRUE(fails_with({"at least 0"}, [&] { DeviceMultiply(device, {.m = -1, .n = 1, .k = 1}); }));
  percolate::Progress last;
  DeviceMultiply multiply(device, product, {.rates = rates, .progress = [&](const auto& at) { last = at; }});
  std::vector<double> matrix(10000, 1.0);
  const Block block{.data = reinterpret_cast<const std::byte*>(matrix.data()), .leading = 100};
  std::vector<double> c(10000);
  const auto bytes = reinterpret_cast<std::byte*>(c.data());
  EXPECT_TRUE(fails_with({"rows of B begin 99 elements apart, and have 100"},
                         [&] { multiply.run(block, {.data = block.data, .leading = 99}, bytes, 100); }));
  multiply.run(block, block, bytes, 100);  // A and B may be the same
  EXPECT_TRUE(std::ranges::all_of(c, [](double value) { return value == 100; }));
  EXPECT_EQ(last.total, 2e6);
  EXPECT_EQ(last.done, 2e6);
}

}  // namespace
}  // namespace penstock::gemm
