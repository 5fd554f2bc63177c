// The processes of this run: one, or those that an MPI launcher started; how they begin, agree on their arguments, end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/gas/gas.hpp"

namespace penstock::cli {

/// How one rank's work ended; the worst of all ranks' is the command's.
struct Outcome {
  int status = 0;       ///< 0: success, 1: failed check or run, 2: unusable arguments
  std::string message;  ///< one line, empty for success
};

/// The processes of this run. MPI is initialised where the environment shows that a launcher started this process, and
/// finalised on destruction. One object per process.
class Processes {
 public:
  /// Throws Error where the launcher started several processes and this build or its MPI cannot reach them.
  Processes();
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Whether this process speaks for all.
  bool is_first() const noexcept;
  int size() const noexcept;
  /// Whether MPI runs: a launcher started this process, or `start_mpi` was called.
  bool has_mpi() const noexcept;
  /// Initialises MPI for a process without a launcher. Throws Error where this build has no MPI.
  void start_mpi();

  /// Collective. Throws Error on every process where `text`, called `what` in the message, is not the same on all.
  void agree_on(const std::string& what, const std::string& text) const;

  /// Collective. Throws Error on every process where they do not all have the same arguments.
  void agree_on_arguments(const std::vector<std::string>& arguments) const;

  /// Collective, the last thing of a run: prints the message of the lowest rank that failed, once, and returns the
  /// status of the command. Where this rank failed and others do not come here within some seconds, they wait for it
  /// in vain: it then prints its own message and ends them all.
  int conclude(const Outcome& mine);

  /// A process of the run has died: one of those that know it prints the message, and they end all.
  [[noreturn]] void end_all(const gas::PeerFailure& failure);

  /// Whether the environment shows that a launcher started this process.
  static bool is_launched();

  /// Whether the environment shows several processes that this one cannot know of, of which it is not the first.
  static bool is_silent_copy();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Prints `message` as the command's one line on standard error.
void print_failure(const std::string& message);

}  // namespace penstock::cli
