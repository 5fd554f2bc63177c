// Bytes on their way between storage and memory, and the engines that move them. Included by percolate.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string_view>

#include "penstock/base/file.hpp"

namespace penstock::percolate {

/// `runs` runs of `run_bytes` bytes each, `file_pitch` apart in the file and `memory_pitch` in memory: a box of a
/// matrix in one transfer. Or no bytes, but word to the system: `read_ahead`, that these runs of the file will be read
/// soon, so that it may bring them into its page cache in longer runs than those of the reads; `sync`, that what was
/// written to the file before shall be on the disk when this is done.
///
/// File and memory stay the caller's, and must live until it is done.
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

/// Moves transfers, several at a time, while its user does something else. Thread-safe.
///
/// An interface, as kernels differ in what they offer, and as a test wants one that fails.
class Engine {
 public:
  /// Called once for each transfer, on a thread of the engine: null, or what went wrong.
  using Done = std::function<void(std::exception_ptr)>;

  /// Returns when all that was started is done.
  virtual ~Engine() = default;
  virtual std::string_view name() const noexcept = 0;
  /// The transfer has at least one run.
  virtual void start(const Transfer& transfer, Done done) = 0;
};

/// io_uring where the kernel allows it, else threads; or one of the two.
enum class EngineChoice { automatic, uring, threads };

/// Whether this kernel and this build have io_uring.
bool has_uring();

/// An engine that has up to `depth` requests with the system at once. Throws Error where io_uring is asked for and
/// cannot be had.
std::unique_ptr<Engine> make_engine(EngineChoice choice = EngineChoice::automatic, int depth = 32);

}  // namespace penstock::percolate
