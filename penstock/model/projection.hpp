// Machines of other years, by the time in which each rate or size doubles (Czechowski et al. 2012, Table 1).
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "penstock/machine/machine.hpp"
#include "penstock/model/exascale.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

/// The growth of one rate or size of machines.
struct Trend {
  std::string_view name;
  double doubling_years;
  /// The factor that the table prints for ten years, from which its values for 2020 follow. Two of these factors do not
  /// follow from the doubling time.
  double printed_ten_year_factor;

  /// The growth in `years` years, as a factor, by the doubling time.
  double factor(double years) const noexcept;
  /// The same by the printed factor for ten years.
  double printed_factor(double years) const noexcept;
};

/// Table 1.
struct Trends {
  Trend node_flops{"peak of a processor", 1.7, 59.0};
  Trend cores{"cores", 1.87, 40.7};
  Trend memory_bandwidth{"memory bandwidth", 3.0, 9.7};
  Trend cache{"fast memory", 2.0, 32.0};
  Trend line{"line size", 10.2, 2.0};
  Trend link_bandwidth{"link bandwidth", 2.25, 21.8};
  Trend machine_flops{"machine peak", 1.0, 1000};
  Trend system_memory{"system memory", 1.3, 208};
  Trend nodes{"nodes", 2.4, 17.4};
};

/// Whether rates and sizes grow by their doubling times, or by the factors printed beside these.
enum class Pace { doubling_times, printed_factors };

/// The machines of 2010 in Table 1, of 4 PFlop/s: "CPU", from Hopper, and "GPU", from Keeneland.
ExascaleMachine cpu_of_2010() noexcept;
ExascaleMachine gpu_of_2010() noexcept;

/// The machine `years` later (earlier, where negative).
ExascaleMachine project(const ExascaleMachine& machine, double years, Pace pace, const Trends& trends = {}) noexcept;

/// A described machine in another year, with "projected" in its name: rates, caches and count grow, and the
/// bandwidths of memory levels but storage. Measured curves grow as the single rates do; the numbers of threads and the
/// lengths in them stay. The network's shape keeps its proportions as far as whole numbers let it. Throws Error beyond
/// a century.
machine::Machine project(const machine::Machine& machine, std::int64_t year, const Trends& trends = {});

/// A machine of CPU-like nodes to replace a GPU-like machine, or that machine itself (section 6, Figure 5).
struct SwimLane {
  std::string_view name;
  double nodes = 0;
  double peak_flops = 0;
  double memory_s = 0;
  double network_s = 0;
};

/// The machines for a transform of n^3 points: GPU, CPU-1 (the same peak), CPU-2 (the same time), and CPU-3 (the same
/// time where memory and network overlap).
std::array<SwimLane, 4> swim_lanes(const ExascaleMachine& gpu, const ExascaleMachine& cpu, double n,
                                   const MemoryReading& reading) noexcept;

}  // namespace penstock::model

#pragma GCC visibility pop
