// Bytes on their way between storage and memory, and the engines that move them. Included by percolate.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string_view>

#include "penstock/base/file.hpp"

#pragma GCC visibility push(default)

namespace penstock::percolate {

/// A transfer of `runs` runs of `run_bytes` bytes each, `file_pitch` apart in the file and `memory_pitch` in memory:
/// for example a box of a matrix. Two kinds move no bytes. `read_ahead` asks the system to prefetch these runs of the
/// file into its page cache, in longer runs than those of the reads to come. `sync` is done when all that was written
/// to the file before is on the disk.
///
/// File and memory stay the caller's, and must live until the transfer is done.
struct Transfer {
  enum class Kind { read, write, read_ahead, sync };
  Kind kind = Kind::read;
  const File* file = nullptr;
  std::int64_t offset = 0;  ///< of the first run, in the file
  std::byte* data = nullptr;
  std::size_t run_bytes = 0;
  std::size_t runs = 1;
  std::int64_t file_pitch = 0;
  std::int64_t memory_pitch = 0;

  std::size_t bytes() const noexcept { return kind == Kind::read || kind == Kind::write ? run_bytes * runs : 0; }
};

/// Runs transfers, several at a time, while its user does other work. Thread-safe.
///
/// An interface because kernels differ in what they offer, and because a test needs an engine that fails.
class Engine {
 public:
  /// Called once for each transfer, on a thread of the engine, with its failure or null.
  using Done = std::function<void(std::exception_ptr)>;

  /// Waits for all transfers that were started.
  virtual ~Engine() = default;
  virtual std::string_view name() const noexcept = 0;
  /// Begins a transfer of at least one run and does not wait for it; `done` may be called before `start` returns.
  virtual void start(const Transfer& transfer, Done done) = 0;
};

/// io_uring where the kernel allows it, else threads; or one of the two.
enum class EngineChoice { automatic, uring, threads };

/// Whether this build has io_uring and this kernel lets the process use it.
bool has_uring();

/// An engine with up to `depth` requests under way at once; with threads, 16 at most. Throws Error for a depth below 1,
/// and for EngineChoice::uring where `has_uring` is false.
std::unique_ptr<Engine> make_engine(EngineChoice choice = EngineChoice::automatic, int depth = 32);

}  // namespace penstock::percolate

#pragma GCC visibility pop
