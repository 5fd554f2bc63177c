// Samples all over a file: a change that keeps length and time is then still likely to be seen, and a file of any size
// costs a megabyte to read. Neither takes memory worth counting, as files are larger than that.
#include "penstock/journal/fingerprint.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/base/checksum.hpp"
#include "penstock/base/error.hpp"

namespace penstock::journal {

std::string fingerprint(const File& file) {
  struct stat status = {};
  if (fstat(file.descriptor(), &status) != 0) {
    throw Error(fmt::format("cannot read '{}'", file.path()));
  }
  constexpr std::int64_t samples = 256;
  constexpr std::int64_t sample_bytes = 4096;
  const std::int64_t bytes = file.size();
  std::array<std::byte, sample_bytes> sample;
  std::vector<std::uint64_t> sums;
  const std::int64_t distance = std::max(bytes / samples, sample_bytes);
  for (std::int64_t at = 0; at < bytes; at += distance) {
    const std::span part = std::span(sample).first(static_cast<std::size_t>(std::min(sample_bytes, bytes - at)));
    file.read(at, part);
    sums.push_back(checksum(part));
  }
  return fmt::format("{} bytes of {}.{:09}, {:016x}", bytes, status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                     checksum(std::as_bytes(std::span(sums))));
}

std::string whole_checksum(const File& file) {
  constexpr std::int64_t chunk_bytes = std::int64_t{1} << 18;
  std::vector<std::byte> chunk(chunk_bytes);
  std::vector<std::uint64_t> sums;
  const std::int64_t bytes = file.size();
  for (std::int64_t at = 0; at < bytes; at += chunk_bytes) {
    const std::span part = std::span(chunk).first(static_cast<std::size_t>(std::min(chunk_bytes, bytes - at)));
    file.read(at, part);
    sums.push_back(checksum(part));
  }
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(sums))));
}

}  // namespace penstock::journal
