#include "penstock/machine/machine.hpp"

namespace penstock::machine {

// A virtual machine of 2 cores on a Zen 4 server, measured together with the peers of our benchmarks; the sources of
// the figures stand in machines/default.toml, which a test keeps equal to these.
Machine built_in() {
  return {.name = "2 cores of a Zen 4 server",
          .year = 2022,
          .count = 1,
          .node = {.cores = 2,
                   .peak_flops = 117.2e9,                    // 2 x 58.6, measured
                   .memory_bandwidth_bytes_per_s = 43e9,     // measured: a pass that reads and writes 256 MiB
                   .cache_bytes = std::int64_t{32} << 20,    // as the processor says
                   .cache_l2_bytes = std::int64_t{1} << 20,  // as the processor says
                   .line_bytes = 64,                         // as the processor says
                   .fft_rate_flops_per_core = 30e9,          // measured: FFTW, length 256
                   .gemm_rate_flops_per_core = 54.4e9,       // measured: OpenBLAS, n = 4096
                   .memory_levels = {}},
          .network = {},
          .transports = {}};
}

}  // namespace penstock::machine
