// Work on files larger than memory: its options, and the driver that all such work shares.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/machine/machine.hpp"
#include "penstock/percolate/percolate.hpp"

#pragma GCC visibility push(default)

namespace penstock {
class Error;
}

namespace penstock::journal {
class ResumableFile;
struct ResumeFact;
}  // namespace penstock::journal

namespace penstock::outofcore {

struct Options {
  std::int64_t memory_bytes = 0;
  /// Whether `memory_bytes` limits the whole process, whose peak is then at most 2 % more. Else it limits the parts of
  /// fields or matrices that are in memory, and the threads' work buffers.
  bool counts_process = false;
  int threads = 1;
  /// Whether checksums detect a change of any byte of an input; the inputs are then read once more before and after the
  /// work. Else their lengths, times of modification and samples are compared. A run begun without checksums is not
  /// resumed with them.
  bool verifies_input = false;
  percolate::Engine* engine = nullptr;  ///< the caller's; null: one of the driver, the best available
  /// The machine whose rates predict the time; none: the rates are measured.
  std::optional<machine::Machine> machine = {};
  /// Called with bytes read and written by a transform, with flops by a multiply.
  percolate::ProgressCallback progress = {};
};

/// The work that a run has done and its total work, in one unit.
struct Done {
  double done = 0;
  double total = 0;
};

/// Drives one piece of work whose result is a file: it holds the engine of transfers and the result with its journal,
/// counts memory, runs programs of parcels and reports their progress. Its user cuts the work into pieces and makes the
/// parcels. One thread uses it at a time.
class Driver {
 public:
  /// `work` names the work in messages: "transform". `beside` are the paths of files that are removed when the work is
  /// complete. Throws Error for less than one thread, where another process makes the same result, and where `output`
  /// cannot be made.
  Driver(const Options& options, std::string work, const std::string& output, std::vector<std::string> beside = {});
  /// For a process that helps another one with its result and has none itself: it must not call `result`, `complete`,
  /// `check_begun` or `foreign_tiling`.
  Driver(const Options& options, std::string work);

  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  journal::ResumableFile& result() const noexcept { return *result_; }
  percolate::Engine& engine() const noexcept { return options_.engine != nullptr ? *options_.engine : *own_engine_; }

  /// The memory that the process needs besides its pieces: what it has now, `later_bytes`, and what threads and parcels
  /// will take. The sum is rounded up to a 128th of the memory, so that runs on one machine, whose processes never have
  /// quite the same memory, get the same tiling.
  std::int64_t reserved_bytes(std::int64_t later_bytes = 0) const;
  /// The memory that measuring rates beforehand may take: half of what `taken_bytes` leave.
  std::int64_t measuring_bytes(std::int64_t taken_bytes) const;
  /// Throws Error where resumed work needs more memory, `piece_bytes` + `reserved_bytes`, than 33/32 of the limit. The
  /// margin of 1/32 is there because the memory of a process differs from run to run. `pieces` names the pieces in the
  /// Error: "tiles".
  void check_begun(std::int64_t piece_bytes, std::int64_t reserved_bytes, std::string_view pieces) const;
  /// The Error to be thrown where the journal's tiling does not fit this work.
  Error foreign_tiling() const;

  /// Calls `pieces`, which makes the pieces of the result by calls of `run`. An Error that `pieces` throws is thrown
  /// on, with the note that the next run resumes.
  void make(const std::function<void()>& pieces);
  /// The time since `make` was called or, before that, since construction.
  double elapsed_s() const noexcept;
  /// Runs a program to its end, with at most `window` parcels at once, and reports the progress that `done` returns.
  percolate::RunTimes run(const percolate::Slots& slots, const percolate::Program& program, int window,
                          const std::function<Done()>& done);
  /// Commits the result, which is whole, to its path. Throws Error where an input has changed since the work began.
  void complete(const std::vector<journal::ResumeFact>& key);

 private:
  Options options_;
  std::string work_;
  std::unique_ptr<journal::ResumableFile> result_;
  std::unique_ptr<percolate::Engine> own_engine_;
  double begin_s_ = 0;
};

}  // namespace penstock::outofcore

#pragma GCC visibility pop
