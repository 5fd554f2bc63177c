// A disk: its bandwidth as programs of parcels have it, its latency, its size.
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <random>

#include "penstock/base/base.hpp"
#include "penstock/probe/calibration.hpp"

namespace penstock::probe {
namespace {

/// Reads of a page at random places of a file in `folder` that the page cache does not have.
Figure measure_latency(const std::string& folder, int samples) {
  constexpr std::int64_t block_bytes = std::int64_t{1} << 20;
  constexpr std::int64_t blocks = 32;
  const File file = File::scratch(folder);
  const Memory block(static_cast<std::size_t>(block_bytes));
  std::mt19937_64 random(1);  // so that no disk can compress it
  auto* const words = reinterpret_cast<std::uint64_t*>(block.data());
  std::generate_n(words, block.size() / sizeof *words, [&] { return random(); });
  for (std::int64_t i = 0; i < blocks; ++i) {
    file.write(i * block_bytes, {block.data(), block.size()});
  }
  file.sync();
  file.drop_from_cache();
  std::uniform_int_distribution<std::int64_t> pages(0, blocks * block_bytes / small_page_bytes - 1);
  std::vector<double> times_s;
  for (int i = 0; i < samples; ++i) {
    const std::int64_t at = pages(random) * small_page_bytes;
    const double begin_s = seconds();
    file.read(at, {block.data(), static_cast<std::size_t>(small_page_bytes)});
    times_s.push_back(seconds() - begin_s);
  }
  return time_of(std::move(times_s));
}

}  // namespace

DiskRates measure_disk(const std::string& folder, percolate::Engine& engine, const CalibrationOptions& options) {
  struct statvfs system {};
  if (statvfs(folder.c_str(), &system) != 0) {
    throw Error(fmt::format("{}: {}", folder, std::strerror(errno)));
  }
  const percolate::StorageRates rates = percolate::measure_storage(
      folder, engine, std::numeric_limits<std::int64_t>::max(), std::max(2, options.samples / 4));
  const auto figure = [&](double best, double median) {
    return Figure{.best = rounded(best), .median = rounded(median), .samples = rates.passes};
  };
  return {.write_bytes_per_s = figure(rates.write_bytes_per_s, rates.median_write_bytes_per_s),
          .read_bytes_per_s = figure(rates.read_bytes_per_s, rates.median_read_bytes_per_s),
          .latency_s = measure_latency(folder, 8 * options.samples),
          .capacity_bytes = static_cast<std::int64_t>(system.f_blocks) * static_cast<std::int64_t>(system.f_frsize),
          .is_direct = rates.is_direct};
}

}  // namespace penstock::probe
