// The communication complexity of 3-D FFTs: the equations of Czechowski et al., ICS 2012 (seed 3). They are for a
// transform of n^3 points of 16 bytes on P nodes: three phases of computation with two exchanges between them.
#pragma once

#include <string_view>

#pragma GCC visibility push(default)

namespace penstock::model {

/// A reading of eq. 2. The paper prints A n max(log_Z n, 1) without a value of A. Its memory times follow from no A
/// that its own method could have measured.
struct MemoryReading {
  std::string_view name;
  double cache_constant;    ///< A
  double cache_word_bytes;  ///< the words in which Z is counted
  bool is_capped;           ///< max(log_Z n, 1), else log_Z n

  /// Eq. 2 as printed, with A = 6.3.
  static MemoryReading printed() noexcept { return {"printed", 6.3, 16, true}; }
  /// The reading that gives most numbers of the paper: no maximum, A = 123, Z in words of 8 bytes.
  static MemoryReading uncapped() noexcept { return {"uncapped", 123, 8, false}; }
};

/// A machine in the paper's terms: a node is one processor; rates are in bytes and flops per second.
struct ExascaleMachine {
  double peak_flops = 0;          ///< R_peak, of the machine
  double node_flops = 0;          ///< C_node
  double memory_bytes_per_s = 0;  ///< beta_mem
  double cache_bytes = 0;         ///< Z
  double link_bytes_per_s = 0;    ///< beta_link
  double bus_bytes_per_s = 0;     ///< beta_PCIe; 0 where there is none

  /// P = R_peak / C_node (section 4).
  double nodes() const noexcept { return peak_flops / node_flops; }
};

/// The network that T_net assumes.
struct ExascaleNetwork {
  enum class Kind {
    full,       ///< eq. 3: fully connected
    ideal,      ///< eq. 4: a torus of three dimensions, the exchanges within cubes of P^(1/6) nodes an edge
    bisection,  ///< eq. 5: a torus of `dimensions` dimensions, limited by its bisection
  };
  Kind kind = Kind::bisection;
  double dimensions = 3;

  /// kappa of eq. 7, the power of P that divides T_net: 1, 5/6, or (d - 1) / d.
  double kappa() const noexcept;
};

/// The times of one transform.
struct ExascaleTimes {
  double flops_s = 0;    ///< eq. 1
  double memory_s = 0;   ///< eq. 2
  double network_s = 0;  ///< eq. 3, 4 or 5
  double shuffle_s = 0;  ///< eq. 8
  double bus_s = 0;      ///< eq. 9, of all three phases
};

/// The times of a transform of n^3 points.
ExascaleTimes exascale_times(const ExascaleMachine& machine, double n, const MemoryReading& reading,
                             const ExascaleNetwork& network = {}) noexcept;

/// The operations by which the paper counts rates: 5 n^3 log2 n^3.
double exascale_flops(double n) noexcept;

/// T_mem of eq. 6, without its constant, in the limit of large n: (1 / R_peak) (C_node / beta_mem) n^3 log_Z n.
double balance_memory(const ExascaleMachine& machine, double n) noexcept;

/// T_net of eq. 7, without its constant: (C_node / R_peak)^kappa n^3 / beta_link.
double balance_network(const ExascaleMachine& machine, double n, const ExascaleNetwork& network) noexcept;

/// T_mem / T_net of eq. 10, without constant and logarithm: (C_node / R_peak)^(1 - kappa) beta_link / beta_mem.
double balance_ratio(const ExascaleMachine& machine, const ExascaleNetwork& network) noexcept;

/// The quantity that eq. 11 bounds: flops per byte, rho C / beta, over log2(Z / rho). A node stays balanced as long as
/// this quantity does not grow. `cores` is rho, `core_flops` C, `cache_bytes` Z.
double balance_of_node(double cores, double core_flops, double memory_bytes_per_s, double cache_bytes) noexcept;

/// The smallest number of nodes like `node`, not rounded, whose transform takes `time_s`, on a 3-D torus (eq. 5). The
/// time is T_mem + T_net or, where the two overlap, the larger one (CPU-2 and CPU-3 of section 6).
double nodes_for_time(const ExascaleMachine& node, double n, double time_s, bool overlaps,
                      const MemoryReading& reading) noexcept;

}  // namespace penstock::model

#pragma GCC visibility pop
