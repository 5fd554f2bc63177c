#include "penstock/gemm/device_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/device/device.hpp"
#include "penstock/gemm/blas.hpp"

namespace penstock::gemm {
namespace {

template <class Real>
std::vector<std::byte> some_numbers(std::size_t bytes) {
  std::minstd_rand random;
  std::vector<Real> numbers(bytes / sizeof(Real));
  std::ranges::generate(numbers, [&] { return static_cast<Real>(random() % 9) - 4; });
  const auto view = std::as_bytes(std::span(numbers));
  return {view.begin(), view.end()};
}

/// Fills a matrix with whole numbers: a device multiplies zeros with less power, and so faster.
void fill(device::Stream& stream, npy::DataType type, const device::Memory& memory) {
  const auto first = static_cast<std::size_t>(std::min(memory.bytes(), std::uint64_t{1} << 20));
  const std::vector<std::byte> numbers =
      type == npy::DataType::float32 ? some_numbers<float>(first) : some_numbers<double>(first);
  stream.copy_to_device(memory.location(), numbers.data(), {.row_bytes = first});
  for (std::uint64_t done = first; done < memory.bytes(); done *= 2) {
    stream.copy(memory.location() + done, memory.location(), std::min(done, memory.bytes() - done));
  }
  stream.finish();
}

/// Multiplies of n x n elements, n growing until one lasts: from then on the rate hardly rises.
void measure_multiplies(const device::Device& device, npy::DataType type, std::uint64_t max_bytes, DeviceRates& rates) {
  constexpr std::int64_t smallest = 32;
  constexpr std::int64_t largest = 1 << 14;
  constexpr double lasting_s = 0.01;
  const std::unique_ptr<device::Stream> stream = device.make_stream();
  const std::unique_ptr<device::Blas> blas = device.open_blas();
  const std::int64_t bytes = npy::element_bytes(type);
  // Three matrices, and the BLAS's copies of them.
  const auto matrix_bytes = [&](std::int64_t n) { return static_cast<std::uint64_t>(n * n * bytes); };
  const std::uint64_t most = std::min(max_bytes / 6, device.properties().allocation_bytes);
  for (std::int64_t n = smallest; n == smallest || (n <= largest && matrix_bytes(n) <= most); n *= 2) {
    const std::unique_ptr<device::Memory> a = device.allocate(matrix_bytes(n));
    const std::unique_ptr<device::Memory> b = device.allocate(matrix_bytes(n));
    const std::unique_ptr<device::Memory> c = device.allocate(matrix_bytes(n));
    for (const device::Memory* const memory : {a.get(), b.get()}) {
      fill(*stream, type, *memory);
    }
    const device::Product product{.m = n,
                                  .n = n,
                                  .k = n,
                                  .real_bytes = bytes,
                                  .a = {.location = a->location(), .leading = n},
                                  .b = {.location = b->location(), .leading = n},
                                  .c = c->location(),
                                  .leading_c = n};
    const double time_s = device::min_seconds([&] {
      stream->multiply(*blas, product);
      stream->finish();
    });
    rates.call_s = n == smallest ? time_s : rates.call_s;
    const auto extent = static_cast<double>(n);
    rates.flops = std::max(rates.flops, flops(type, extent, extent, extent) / time_s);
    if (time_s >= lasting_s) {
      return;
    }
  }
}

}  // namespace

void check_device_type(const device::Device& device, npy::DataType type) {
  if (npy::is_complex(type)) {
    throw Error(
        fmt::format("devices multiply matrices of float32 and float64, and not of {}: multiply these on the processor",
                    npy::name(type)));
  }
  if (type == npy::DataType::float64 && !device.properties().has_double) {
    throw Error(fmt::format("the device {} has no double precision: multiply matrices of float32 there",
                            device.properties().name));
  }
}

DeviceRates measure_device(const device::Device& device, npy::DataType type, std::uint64_t max_bytes) {
  check_device_type(device, type);
  DeviceRates rates;
  measure_multiplies(device, type, max_bytes, rates);
  rates.copies = device::measure_rates(device, max_bytes);
  return rates;
}

}  // namespace penstock::gemm
