// Some pieces at a time, as runs have them; first written, so that there is something to read.
#include "penstock/percolate/storage_rate.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "penstock/base/clock.hpp"
#include "penstock/base/memory.hpp"

namespace penstock::percolate {

StorageRates measure_storage(const std::string& folder, Engine& engine) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  constexpr std::size_t pieces = 32;
  constexpr std::size_t buffers = 8;
  const File file = File::scratch(folder);
  const Memory memory(buffers * piece_bytes);
  StorageRates rates;
  for (const Transfer::Kind kind : {Transfer::Kind::write, Transfer::Kind::read}) {
    std::mutex mutex;
    std::condition_variable wake;
    std::size_t left = pieces;
    std::exception_ptr first;
    const double begin_s = seconds();
    for (std::size_t i = 0; i < pieces; ++i) {
      engine.start({.kind = kind,
                    .file = &file,
                    .offset = static_cast<std::int64_t>(i * piece_bytes),
                    .data = memory.data() + i % buffers * piece_bytes,
                    .run_bytes = piece_bytes},
                   [&](std::exception_ptr failure) {
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
    (kind == Transfer::Kind::read ? rates.read_bytes_per_s : rates.write_bytes_per_s) =
        static_cast<double>(pieces * piece_bytes) / (seconds() - begin_s);
  }
  return rates;
}

}  // namespace penstock::percolate
