// Work on files larger than memory: what its users may ask for, and what all such work shares.
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
  /// Whether `memory_bytes` is for the whole process: its peak is then at most 2 % more. Else it is for the parts of
  /// fields or matrices that are in memory, and what threads work in.
  bool counts_process = false;
  int threads = 1;
  /// Whether a change of any byte of an input is noticed, by reading the inputs once more before and after; else by
  /// their lengths, times of change and samples of them. A run is resumed as it was begun.
  bool verifies_input = false;
  percolate::Engine* engine = nullptr;  ///< the caller's; none: the best there is
  percolate::Trace* trace = nullptr;
  /// The machine whose rates predict the time; none: they are measured.
  std::optional<machine::Machine> machine = {};
  /// Told in bytes read and written by a transform, in flops by a multiply.
  percolate::ProgressCallback progress = {};
};

/// What is done of a run and what there is to do, in one unit.
struct Done {
  double done = 0;
  double total = 0;
};

/// Drives one piece of work whose result is a file: it holds the engine of transfers and the result with its journal,
/// counts memory, runs programs of parcels and reports on them. What is cut into which pieces, and which parcels make
/// them, is its user's. One thread uses it at a time.
class Driver {
 public:
  /// `work` is a word for what is made, for messages: "transform"; `beside` are the paths of files that last as long as
  /// the work. Throws Error for less than one thread, where another process makes the same result, and where `output`
  /// cannot be made.
  Driver(const Options& options, std::string work, const std::string& output, std::vector<std::string> beside = {});
  /// Of a process that helps another one with its result, and has none itself: nothing that tells of one is called.
  Driver(const Options& options, std::string work);

  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  journal::ResumableFile& result() const noexcept { return *result_; }
  percolate::Engine& engine() const noexcept { return options_.engine != nullptr ? *options_.engine : *own_engine_; }

  /// The memory of this process, and `later_bytes`, which it will have beside pieces, and what threads and parcels will
  /// take; in steps of a 128th of the memory, so that runs on one machine, which never have quite the same, are cut
  /// alike.
  std::int64_t reserved_bytes(std::int64_t later_bytes = 0) const;
  /// What measuring rates beforehand may take of the memory, where `taken_bytes` of it are taken: half of the rest.
  std::int64_t measuring_bytes(std::int64_t taken_bytes) const;
  /// Throws Error where work that goes on needs more for its pieces and `reserved_bytes` than the memory and a
  /// thirty-second of it: what a process has besides is never quite the same. `pieces` names them: "tiles".
  void check_begun(std::int64_t piece_bytes, std::int64_t reserved_bytes, std::string_view pieces) const;
  /// To be thrown where the journal's tiling is none of this work's.
  Error foreign_tiling() const;

  /// Runs the pieces of a result, in any number of programs. Throws the Error of `pieces` with a word on how to go on.
  void make(const std::function<void()>& pieces);
  /// Since `make` was called; before, since this was made.
  double elapsed_s() const noexcept;
  /// Walks a program to its end, with so many of its parcels drawn at once, and reports the progress that `done` tells.
  percolate::RunTimes run(const percolate::Slots& slots, const percolate::Program& program, int window,
                          const std::function<Done()>& done);
  /// The result is whole: it gets its name. Throws Error where an input is not what it was when the work was begun.
  void complete(const std::vector<journal::ResumeFact>& key);

 private:
  Options options_;
  std::string work_;
  std::unique_ptr<journal::ResumableFile> result_;
  std::unique_ptr<percolate::Engine> own_engine_;
  double begin_s_ = 0;
};

}  // namespace penstock::outofcore
