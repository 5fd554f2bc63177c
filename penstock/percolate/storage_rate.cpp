// Some pieces at a time, as runs have them; first written, so that there is something to read.
#include "penstock/percolate/storage_rate.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "penstock/base/clock.hpp"
#include "penstock/base/memory.hpp"

namespace penstock::percolate {
namespace {

/// Seconds of `transfers`, all begun at once.
double time_transfers(Engine& engine, std::span<const Transfer> transfers) {
  std::mutex mutex;
  std::condition_variable wake;
  std::size_t left = transfers.size();
  std::exception_ptr first;
  const double begin_s = seconds();
  for (const Transfer& transfer : transfers) {
    engine.start(transfer, [&](std::exception_ptr failure) {
      const std::lock_guard lock(mutex);
      if (!first) {
        first = std::move(failure);
      }
      --left;
      wake.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  wake.wait(lock, [&] { return left == 0; });
  if (first) {
    std::rethrow_exception(first);
  }
  return seconds() - begin_s;
}

/// Memory that no disk can compress.
Memory random_memory(std::size_t bytes) {
  Memory memory(bytes);
  std::mt19937_64 random(1);
  auto* const words = reinterpret_cast<std::uint64_t*>(memory.data());
  std::generate_n(words, bytes / sizeof *words, [&] { return random(); });
  return memory;
}

/// Sorts the rates of passes, one at least.
double sorted_median(std::vector<double>& rates) {
  std::ranges::sort(rates);
  return rates[(rates.size() - 1) / 2];
}

}  // namespace

double measure_transfers(Engine& engine, std::span<const Transfer> transfers) {
  double bytes = 0;
  for (const Transfer& transfer : transfers) {
    bytes += static_cast<double>(transfer.bytes());
  }
  return bytes / time_transfers(engine, transfers);
}

StorageRates measure_storage(const std::string& folder, Engine& engine, std::int64_t max_bytes, int passes) {
  constexpr double max_s = 2;
  constexpr std::size_t buffers = 8;
  constexpr std::int64_t page_bytes = File::scratch_alignment;
  const std::int64_t share = max_bytes / static_cast<std::int64_t>(buffers) / page_bytes * page_bytes;
  const auto piece_bytes = static_cast<std::size_t>(std::clamp(share, page_bytes, std::int64_t{1} << 20));
  const std::size_t pieces = std::min((std::size_t{32} << 20) / piece_bytes, std::size_t{512});
  const Memory memory = random_memory(buffers * piece_bytes);
  const auto transfers_of = [&](const File& file, Transfer::Kind kind) {
    std::vector<Transfer> transfers;
    for (std::size_t i = 0; i < pieces; ++i) {
      transfers.push_back({.kind = kind,
                           .file = &file,
                           .offset = static_cast<std::int64_t>(i * piece_bytes),
                           .data = memory.data() + i % buffers * piece_bytes,
                           .run_bytes = piece_bytes});
    }
    return transfers;
  };
  const auto bytes = static_cast<double>(pieces * piece_bytes);
  StorageRates rates;
  std::vector<double> reads;
  std::vector<double> writes;
  const double begin_s = seconds();
  while (rates.passes < passes && (rates.passes < 2 || seconds() - begin_s < max_s)) {
    const File file = File::scratch(folder);
    rates.is_direct = file.passes_by_cache();
    double write_s = time_transfers(engine, transfers_of(file, Transfer::Kind::write));
    if (!rates.is_direct) {
      write_s += time_transfers(engine, std::array{Transfer{.kind = Transfer::Kind::sync, .file = &file}});
      file.drop_from_cache();
    }
    writes.push_back(bytes / write_s);
    reads.push_back(measure_transfers(engine, transfers_of(file, Transfer::Kind::read)));
    ++rates.passes;
  }
  rates.median_read_bytes_per_s = sorted_median(reads);
  rates.median_write_bytes_per_s = sorted_median(writes);
  rates.read_bytes_per_s = reads.back();
  rates.write_bytes_per_s = writes.back();
  return rates;
}

}  // namespace penstock::percolate
