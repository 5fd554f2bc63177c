#include "penstock/transform/device/device_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <limits>

#include "penstock/base/base.hpp"
#include "penstock/transform/numbers.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::transform {
namespace {

constexpr std::int64_t largest_prime = 13;

/// The shortest length of at least `length` without a prime factor above 7.
std::int64_t padded(std::int64_t length) {
  while (largest_prime_factor(length) > 7) {
    ++length;
  }
  return length;
}

/// How many pencils a group should take: as many as give 128 items work, and as make rows of 128 bytes where pencils
/// lie side by side at an end. A host runs the items of a group one after the other.
std::int64_t wanted_pencils(const device::Properties& properties, const DeviceProgram& program) {
  constexpr std::int64_t row_bytes = 128;
  constexpr std::int64_t wanted_items = 128;
  const DeviceShape& shape = program.shape;
  if (properties.is_host) {
    return 4;
  }
  const bool has_rows = shape.source == Adjacent::pencils || shape.destination == Adjacent::pencils;
  std::int64_t pencils = has_rows ? row_bytes / (2 * shape.real_bytes) : 1;
  while (pencils * program.points / program.radices.front() < wanted_items) {
    pencils *= 2;
  }
  return pencils;
}

/// Chooses how local memory is used; returns whether it suffices.
bool fit_local_memory(const device::Properties& properties, DeviceProgram& program) {
  // Where both parts at once would leave room for fewer than three groups on a compute unit, they take turns.
  constexpr std::uint64_t wanted_groups = 3;
  program.exchanges_parts = false;
  program.exchanges_parts =
      !properties.is_host && program.local_bytes() * wanted_groups > properties.local_memory_bytes;
  return program.local_bytes() <= properties.local_memory_bytes;
}

/// Chooses the items of a group, so that each has at most as many points as registers hold; returns whether that can
/// be.
bool fit_items(const device::Properties& properties, DeviceProgram& program) {
  constexpr std::int64_t max_items = 1024;
  const std::int64_t max_points =
      properties.is_host ? std::numeric_limits<std::int64_t>::max() : 256 / (2 * program.shape.real_bytes);
  const std::int64_t radix = program.radices.front();
  const std::int64_t butterflies = program.pencils * program.points / radix;
  const std::int64_t most = std::min(properties.group_items, max_items);
  const std::int64_t per_item = (butterflies + most - 1) / most;
  program.items = (butterflies + per_item - 1) / per_item;
  return per_item == 1 || per_item * radix <= max_points;
}

}  // namespace

std::int64_t DeviceProgram::part_numbers() const noexcept {
  const std::int64_t last = points * pencils - 1;
  return last + (padding_shift == 0 ? 0 : last >> padding_shift) + 1;
}

std::uint64_t DeviceProgram::local_bytes() const noexcept {
  return has_exchanges() ? static_cast<std::uint64_t>((exchanges_parts ? 1 : 2) * part_numbers() * shape.real_bytes)
                         : 0;
}

std::vector<int> radices_of(std::int64_t length, int max_radix) {
  // A pass costs as much as its radix, and 32 for what it costs besides: its exchange.
  if (length == 1) {
    return {1};
  }
  constexpr std::array<int, 14> radices{16, 15, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2};
  std::map<std::int64_t, std::pair<int, std::vector<int>>> best{{1, {0, {}}}};
  const auto solve = [&](const auto& self, std::int64_t n) -> const std::pair<int, std::vector<int>>& {
    if (const auto known = best.find(n); known != best.end()) {
      return known->second;
    }
    std::pair<int, std::vector<int>> found{std::numeric_limits<int>::max(), {}};
    for (const int radix : radices) {
      if (radix > max_radix || n % radix != 0) {
        continue;
      }
      const auto& [cost, rest] = self(self, n / radix);
      if (cost != std::numeric_limits<int>::max() && cost + 32 + radix < found.first) {
        found = {cost + 32 + radix, rest};
        found.second.push_back(radix);
      }
    }
    return best.emplace(n, std::move(found)).first->second;
  };
  std::vector<int> result = solve(solve, length).second;
  std::ranges::sort(result, std::greater());
  return result;
}

DeviceChoice choose_program(const device::Properties& properties, const DeviceShape& shape) {
  DeviceChoice choice;
  DeviceProgram& program = choice.program;
  program.shape = shape;
  const bool is_double = shape.real_bytes == 8;
  if (shape.length < 1 || shape.length > Transform<double>::max_length) {
    choice.obstacle = fmt::format("pencils of {} points are refused", shape.length);
    return choice;
  }
  if (shape.kind > Kind::complex_to_real) {
    choice.obstacle = "it has no sine, cosine, half-complex or Hartley transforms";
    return choice;
  }
  if (is_double && !properties.has_double) {
    choice.obstacle = "it has no double precision";
    return choice;
  }
  const bool is_short = largest_prime_factor(shape.length) <= largest_prime;
  program.points = is_short ? shape.length : padded(2 * shape.length - 1);
  program.radices = radices_of(program.points, is_double ? 13 : 16);
  program.padding_shift = properties.is_host ? 0 : (is_double ? 4 : 5);  // local memory has 32 banks of 4 bytes
  for (program.pencils = wanted_pencils(properties, program); program.pencils > 0; program.pencils /= 2) {
    if (fit_local_memory(properties, program) && fit_items(properties, program)) {
      return choice;
    }
  }
  choice.obstacle =
      fmt::format("pencils of {} points in {} precision do not fit the local memory of its work-groups, which is {}",
                  shape.length, is_double ? "double" : "single", format_bytes(properties.local_memory_bytes));
  return choice;
}

namespace {

template <class Real>
void append(std::vector<std::byte>& bytes, const Points& points) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + points.size() * 2 * sizeof(Real));
  std::byte* to = bytes.data() + begin;
  for (const std::complex<long double>& point : points) {
    const std::array<Real, 2> parts{static_cast<Real>(point.real()), static_cast<Real>(point.imag())};
    std::memcpy(to, parts.data(), sizeof parts);
    to += sizeof parts;
  }
}

}  // namespace

std::uint64_t constants_bytes(const DeviceProgram& program) noexcept {
  const std::int64_t numbers = program.points + (program.is_convolution() ? program.shape.length + program.points : 0);
  return static_cast<std::uint64_t>(2 * numbers * program.shape.real_bytes);
}

std::vector<std::byte> write_constants(const DeviceProgram& program) {
  const std::int64_t n = program.shape.length;
  const std::int64_t m = program.points;
  Points constants;
  for (std::int64_t k = 0; k < m; ++k) {
    constants.push_back(root(k, m));
  }
  if (program.is_convolution()) {
    const Points::size_type chirp = constants.size();
    for (std::int64_t k = 0; k < n; ++k) {
      constants.push_back(root(k * k % (2 * n), 2 * n));
    }
    Points kernel(static_cast<std::size_t>(m));
    for (std::int64_t k = 0; k < n; ++k) {
      const std::complex<long double> value =
          std::conj(constants[chirp + static_cast<std::size_t>(k)]) / static_cast<long double>(m);
      kernel[static_cast<std::size_t>(k)] = value;
      kernel[static_cast<std::size_t>((m - k) % m)] = value;
    }
    const Points transformed_kernel = transformed(kernel);
    constants.insert(constants.end(), transformed_kernel.begin(), transformed_kernel.end());
  }
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(constants_bytes(program)));
  if (program.shape.real_bytes == 8) {
    append<double>(bytes, constants);
  } else {
    append<float>(bytes, constants);
  }
  return bytes;
}

}  // namespace penstock::transform
