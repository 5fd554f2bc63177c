// A disk's bandwidth and latency, by a file that is written and read past the system's cache.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

#include "penstock/base/base.hpp"
#include "penstock/probe/calibration.hpp"

namespace penstock::probe {
namespace {

constexpr std::int64_t block_bytes = std::int64_t{4} << 20;

/// A file without a name once it is open: it is gone when the process ends, however that happens.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& folder) {
    std::string path = (std::filesystem::path(folder) / ".penstock-calibrate-XXXXXX").string();
    descriptor_ = mkostemp(path.data(), O_CLOEXEC);
    if (descriptor_ < 0) {
      throw Error(fmt::format("{}: no file can be written there: {}", folder, std::strerror(errno)));
    }
    unlink(path.c_str());
  }
  ~ScratchFile() { close(descriptor_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  int descriptor() const noexcept { return descriptor_; }

  /// Whether transfers now go past the system's cache.
  bool set_direct() const noexcept {
#if defined(O_DIRECT)
    return fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_DIRECT) == 0;
#else
    return false;
#endif
  }

 private:
  int descriptor_ = -1;
};

void check_whole(ssize_t moved, std::int64_t bytes, const std::string& folder) {
  if (moved != static_cast<ssize_t>(bytes)) {
    throw Error(fmt::format("{}: {}", folder, moved < 0 ? std::strerror(errno) : "the disk is full"));
  }
}

}  // namespace

DiskRates measure_disk(const std::string& folder, const CalibrationOptions& options) {
  constexpr double max_s = 2;  // of writing, and of reading
  struct statvfs system {};
  if (statvfs(folder.c_str(), &system) != 0) {
    throw Error(fmt::format("{}: {}", folder, std::strerror(errno)));
  }
  const auto unit = static_cast<std::int64_t>(system.f_frsize);
  const std::int64_t blocks =
      std::min<std::int64_t>(2L * options.samples, static_cast<std::int64_t>(system.f_bavail) * unit / 2 / block_bytes);
  if (blocks < 1) {
    throw Error(fmt::format("{}: less than {} is free", folder, format_bytes(2 * block_bytes)));
  }
  const ScratchFile file(folder);
  DiskRates figures;
  figures.capacity_bytes = static_cast<std::int64_t>(system.f_blocks) * unit;
  figures.is_direct = file.set_direct();
  const Memory block(static_cast<std::size_t>(block_bytes));
  std::mt19937_64 random(1);  // so that no disk can compress it
  auto* words = reinterpret_cast<std::uint64_t*>(block.data());
  std::generate_n(words, block.size() / sizeof *words, [&] { return random(); });

  std::vector<double> writes_s;
  const double write_begin_s = seconds();
  while (static_cast<std::int64_t>(writes_s.size()) < blocks && seconds() - write_begin_s < max_s) {
    const double begin_s = seconds();
    const auto at = static_cast<std::int64_t>(writes_s.size()) * block_bytes;
    check_whole(pwrite(file.descriptor(), block.data(), block.size(), at), block_bytes, folder);
    fdatasync(file.descriptor());
    writes_s.push_back(seconds() - begin_s);
  }
  const auto written = static_cast<std::int64_t>(writes_s.size());
  figures.write_bytes_per_s = rate_of(static_cast<double>(block_bytes), writes_s);
  posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  std::vector<double> reads_s;
  for (std::int64_t i = 0; i < written; ++i) {
    const double begin_s = seconds();
    check_whole(pread(file.descriptor(), block.data(), block.size(), i * block_bytes), block_bytes, folder);
    reads_s.push_back(seconds() - begin_s);
  }
  figures.read_bytes_per_s = rate_of(static_cast<double>(block_bytes), reads_s);
  posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  std::uniform_int_distribution<std::int64_t> pages(0, written * block_bytes / small_page_bytes - 1);
  std::vector<double> latencies_s;
  for (int i = 0; i < 8 * options.samples; ++i) {
    const std::int64_t at = pages(random) * small_page_bytes;
    const double begin_s = seconds();
    check_whole(pread(file.descriptor(), block.data(), small_page_bytes, at), small_page_bytes, folder);
    latencies_s.push_back(seconds() - begin_s);
  }
  figures.latency_s = time_of(latencies_s);
  return figures;
}

}  // namespace penstock::probe
