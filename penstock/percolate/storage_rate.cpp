// Some pieces at a time, as runs have them; first written, so that there is something to read.
#include "penstock/percolate/storage_rate.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "penstock/base/clock.hpp"
#include "penstock/base/memory.hpp"

namespace penstock::percolate {

double measure_transfers(Engine& engine, std::span<const Transfer> transfers) {
  std::mutex mutex;
  std::condition_variable wake;
  std::size_t left = transfers.size();
  std::exception_ptr first;
  std::size_t bytes = 0;
  const double begin_s = seconds();
  for (const Transfer& transfer : transfers) {
    bytes += transfer.bytes();
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
  return static_cast<double>(bytes) / (seconds() - begin_s);
}

StorageRates measure_storage(const std::string& folder, Engine& engine, std::int64_t max_bytes) {
  constexpr std::size_t buffers = 8;
  constexpr std::int64_t page_bytes = File::scratch_alignment;
  const std::int64_t share = max_bytes / static_cast<std::int64_t>(buffers) / page_bytes * page_bytes;
  const auto piece_bytes = static_cast<std::size_t>(std::clamp(share, page_bytes, std::int64_t{1} << 20));
  const std::size_t pieces = std::min((std::size_t{32} << 20) / piece_bytes, std::size_t{512});
  const File file = File::scratch(folder);
  const Memory memory(buffers * piece_bytes);
  const auto rate = [&](Transfer::Kind kind) {
    std::vector<Transfer> transfers;
    for (std::size_t i = 0; i < pieces; ++i) {
      transfers.push_back({.kind = kind,
                           .file = &file,
                           .offset = static_cast<std::int64_t>(i * piece_bytes),
                           .data = memory.data() + i % buffers * piece_bytes,
                           .run_bytes = piece_bytes});
    }
    return measure_transfers(engine, transfers);
  };
  StorageRates rates;
  rates.write_bytes_per_s = rate(Transfer::Kind::write);
  rates.read_bytes_per_s = rate(Transfer::Kind::read);
  return rates;
}

}  // namespace penstock::percolate
