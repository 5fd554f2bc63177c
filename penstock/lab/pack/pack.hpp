// What packing with MPI datatypes costs: Penstock, the MPI library, the hand-written loop and memcpy, side by side.
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
/// The same memory again and again, or memory that no cache holds.
enum class PackRegime { hot, cold };

struct PackOptions {
  std::string filter;  ///< a regular expression that a case's name must contain; empty: all
  std::vector<PackRegime> regimes{PackRegime::hot, PackRegime::cold};
  std::vector<PackOperation> operations{PackOperation::pack, PackOperation::unpack};
  int rounds = 600;     ///< of each case, in three sweeps over all cases
  double case_s = 0.6;  ///< when a case has taken so many seconds, it ends earlier
  /// Told what comes next.
  std::function<void(std::string_view)> progress = [](std::string_view) {};
};

/// Seconds of one use, over the rounds.
struct PackTimes {
  double min_s = 0;
  double median_s = 0;
};

/// What comes before the first use, in seconds, medians.
struct PackCosts {
  double mpi_commit_s = 0;  ///< MPI_Type_commit
  double describe_s = 0;    ///< the datatype read into a layout
  double compile_s = 0;     ///< the mover, without machine code
  double emit_s = 0;        ///< the machine code
  bool has_code = false;    ///< whether there is any
  double first_use_s = 0;   ///< from the committed type until its first cache line is moved, without machine code
};

/// One case in one regime, one operation.
struct PackResult {
  std::string name;
  PackGroup group;
  PackRegime regime;
  PackOperation operation;
  std::int64_t bytes = 0;  ///< packed
  int rounds = 0;
  std::string hint{};  ///< what ours was told: "reuse", "from memory", "streaming"
  PackTimes ours{};
  PackTimes mpi{};
  PackTimes hand{};
  PackTimes copy{};  ///< memcpy of as many bytes
  PackCosts costs{};
  std::string mover{};  ///< what ours does, for people

  /// After how many uses describing and compiling has been made up for; nothing where ours is not faster.
  std::optional<double> break_even_uses(const PackTimes& other) const;
  /// The speed of ours over that of the faster of the MPI library and the hand-written loop: of the minima, and of the
  /// medians, which one lucky round does not move.
  double ratio_to_best() const;
  double median_ratio_to_best() const;
};

/// The results of a group together: geometric means of ours' speed over the others', and what comes before.
struct PackMean {
  std::string group;  ///< "all", "strided", "indexed", "transposes", "under 1 KiB"
  PackRegime regime;
  PackOperation operation;
  int cases = 0;
  double against_hand = 0;
  double against_mpi = 0;
  double against_copy = 0;
  /// Against the MPI library; nothing where ours is not faster in half of the cases, or in none.
  std::optional<double> break_even_median_uses{};
  std::optional<double> break_even_worst_uses{};  ///< of the cases in which ours is faster
  int never_even = 0;                             ///< cases in which it is not
  double emit_worst_s = 0;
  double first_use_worst_s = 0;
};

struct PackReport {
  std::vector<PackResult> results;
  /// For which the hand-written loops ran, of those that they were compiled for.
  std::string hand_instruction_set;
  /// Cases whose type names bytes twice, so that MPI allows no unpacking into it.
  std::vector<std::string> not_unpacked;
};

/// Measures on this thread, MPI being initialised. Throws Error where no case matches the filter, where memory lacks,
/// and where ours or the hand-written loop does not move the bytes that MPI_Pack and MPI_Unpack do.
PackReport measure_packing(const PackOptions& options);

/// The means of every group, regime and operation that there are results of.
std::vector<PackMean> pack_means(const std::vector<PackResult>& results);

}  // namespace penstock::lab
#endif
