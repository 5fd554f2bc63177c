// What one node reaches, measured for its machine file: each figure several times, its best and its median.
//
// Nothing here is collective: one process measures, on threads of its own, while no other rank works.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "penstock/machine/machine.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::probe {

/// A figure measured several times: a rate, of which the best is the highest, or a time, the lowest.
struct Figure {
  double best = 0;
  double median = 0;
  int samples = 0;

  /// How far the median lies from the best.
  double spread() const noexcept { return best > 0 ? (median > best ? median - best : best - median) / best : 0; }
};

/// One figure of two rounds of the same measurement, whose bests are the higher ones for rates: that with the better
/// best, of as many samples as both.
Figure better_rate(const Figure& first, const Figure& second);

/// To four digits: no figure here is surer.
double rounded(double value);

/// Figures of rates, or of times, in seconds; of at least one sample.
Figure rate_of(double amount, std::vector<double> times_s);
Figure time_of(std::vector<double> times_s);

/// How much is measured.
struct CalibrationOptions {
  int threads = 1;         ///< at most; one for each core
  int samples = 24;        ///< of each figure
  double sample_s = 4e-3;  ///< how long a sample takes at least
};

/// Copies and triads far larger than the cache, by stores that bypass it, with so many threads.
struct StreamRates {
  int threads = 0;
  Figure copy_bytes_per_s;   ///< read plus written
  Figure triad_bytes_per_s;  ///< two read, one written
};
/// By 1, 2, 4, ... threads and all. Takes three arrays of twice the cache each. Throws Error where there is no memory.
std::vector<StreamRates> measure_streams(std::int64_t cache_bytes, const CalibrationOptions& options);

/// Copies by one core of half of each level of cache, read plus written a second, in the order of `levels`.
std::vector<Figure> measure_caches(const std::vector<machine::CacheLevel>& levels, const CalibrationOptions& options);

/// What two cores do to one another; nothing where there are not two.
struct LineTimes {
  Figure transfer_s;      ///< of a line that one has written and the other reads
  Figure shared_add_s;    ///< an addition to one's own word of a line that both write to
  Figure separate_add_s;  ///< the same, each in a line of its own
};
std::optional<LineTimes> measure_lines(const CalibrationOptions& options);

/// Setting all threads to work until the last has done nothing.
Figure measure_thread_start(const CalibrationOptions& options);

/// 1-D transforms of tiles as a plan has them, all threads at once; operations per second of one of them.
struct FftRates {
  std::int64_t length = 0;
  Figure complex_double;
  Figure complex_single;
  Figure real_double;
  Figure real_single;
};
/// Of lengths from 8 to 4096: powers of two, others with small factors, and some without. `progress` is told each.
std::vector<FftRates> measure_fft_rates(const machine::Node& node, const CalibrationOptions& options,
                                        const std::function<void(const std::string&)>& progress);

/// Fields moved through tiles in cache as the two passes of a transform move them.
struct TileRates {
  std::int64_t threads = 0;
  std::int64_t working_set_bytes = 0;
  Figure bytes_per_s;  ///< read plus written
};
/// By 1, 2, 4, ... threads and all, for fields from 32^3 elements to working sets of eight times the last cache.
std::vector<TileRates> measure_tile_copies(const machine::Node& node, const CalibrationOptions& options);

/// A of Czechowski et al. 2012, eq. 2, of our transform of 2^22 complex numbers: how many times n log_Z n words it
/// brings from memory. By misses of the last cache where the processor counts them for us, else by time, as if all time
/// beyond the arithmetic in cache went to memory.
struct CacheConstant {
  Figure value;
  std::string way;  ///< in words, for a comment
};
CacheConstant measure_cache_constant(const machine::Node& node, const CalibrationOptions& options);

/// A disk as percolate::measure_storage has it, by a quarter as many passes as samples, two at least; and reads of 4
/// KiB at random places. Throws Error where the folder cannot be written.
struct DiskRates {
  Figure write_bytes_per_s;
  Figure read_bytes_per_s;
  Figure latency_s;
  std::int64_t capacity_bytes = 0;  ///< of the file system
  bool is_direct = false;           ///< whether it went past the page cache
};
DiskRates measure_disk(const std::string& folder, percolate::Engine& engine, const CalibrationOptions& options);

/// Fused multiply-adds in double precision, in registers, all threads together.
Figure measure_peak(const CalibrationOptions& options);

}  // namespace penstock::probe
