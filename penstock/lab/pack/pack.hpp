// The costs of packing with MPI datatypes: Penstock, the MPI library, the hand-written loop and memcpy, side by side.
#pragma once

#include "penstock/base/config.hpp"

#if PENSTOCK_HAS_MPI
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::lab {

enum class PackGroup { strided, indexed, transpose };
enum class PackOperation { pack, unpack };
/// Whether uses take the same memory repeatedly (hot), or memory that no cache holds (cold).
enum class PackRegime { hot, cold };

struct PackOptions {
  std::string filter;  ///< a regular expression that a case's name must contain; empty: all
  std::vector<PackRegime> regimes{PackRegime::hot, PackRegime::cold};
  std::vector<PackOperation> operations{PackOperation::pack, PackOperation::unpack};
  int rounds = 600;     ///< of each case, in three sweeps over all cases
  double case_s = 0.6;  ///< a case ends earlier when it has taken so many seconds
  /// Called with a text about what is done next, its number from 1, and how many such steps there are.
  std::function<void(std::string_view step, int number, int count)> progress = [](std::string_view, int, int) {};
};

/// Seconds of one use, over the rounds.
struct PackTimes {
  double min_s = 0;
  double median_s = 0;
};

/// The costs before the first use: medians, in seconds.
struct PackCosts {
  double mpi_commit_s = 0;  ///< MPI_Type_commit
  double describe_s = 0;    ///< reading the datatype into a layout
  double compile_s = 0;     ///< compiling the mover, without machine code
  double emit_s = 0;        ///< making the machine code
  bool has_code = false;    ///< whether the mover has machine code
  double first_use_s = 0;   ///< from the committed type until its first cache line is moved, without machine code
};

/// The results of one case in one regime, for one operation.
struct PackResult {
  std::string name;
  PackGroup group;
  PackRegime regime;
  PackOperation operation;
  std::int64_t bytes = 0;  ///< packed
  int rounds = 0;
  std::string hint{};  ///< the mover's hint: "reuse", "from memory", "streaming"
  PackTimes ours{};
  PackTimes mpi{};
  PackTimes hand{};
  PackTimes copy{};  ///< memcpy of as many bytes
  PackCosts costs{};
  std::string mover{};  ///< a description of the mover, for people

  /// The number of uses after which ours, with describing and compiling, has taken less time than `other`. Nothing
  /// where ours is not faster.
  std::optional<double> break_even_uses(const PackTimes& other) const;
  /// The speed of ours over that of the faster of MPI library and hand-written loop: by the minima, and by the medians,
  /// which one lucky round does not change.
  double ratio_to_best() const;
  double median_ratio_to_best() const;
};

/// The means of a group: geometric means of ours' speed over that of the others, and the costs before the first use.
struct PackMean {
  std::string group;  ///< "all", "strided", "indexed", "transposes", "under 1 KiB"
  PackRegime regime;
  PackOperation operation;
  int cases = 0;
  double against_hand = 0;
  double against_mpi = 0;
  double against_copy = 0;
  /// The median of break_even_uses against the MPI library; nothing where ours is not faster in half of the cases.
  std::optional<double> break_even_median_uses{};
  std::optional<double> break_even_worst_uses{};  ///< the largest, of the cases in which ours is faster
  int never_even = 0;                             ///< cases in which ours is not faster
  double emit_worst_s = 0;
  double first_use_worst_s = 0;
};

struct PackReport {
  std::vector<PackResult> results;
  /// The instruction set that the hand-written loops ran with, of those that they were compiled for.
  std::string hand_instruction_set;
  /// The cases whose type names bytes twice: MPI does not allow to unpack into these.
  std::vector<std::string> not_unpacked;
};

/// Measures packing on the calling thread. MPI must be initialised. Throws Error where no case matches the filter or
/// the filter is no regular expression, where there is too little memory, and where ours or the hand-written loop does
/// not move the same bytes as MPI_Pack and MPI_Unpack.
PackReport measure_packing(const PackOptions& options);

/// The means of every group, regime and operation that `results` has.
std::vector<PackMean> pack_means(const std::vector<PackResult>& results);

}  // namespace penstock::lab
#endif
