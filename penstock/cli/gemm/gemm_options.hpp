// Options of `penstock gemm`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "penstock/gemm/gemm.hpp"

namespace CLI {
class App;
}

namespace penstock::cli {

struct GemmOptions {
  gemm::FileProduct files;             ///< paths, and for both kinds of run the operations and scalars
  std::array<std::int64_t, 3> size{};  ///< m, n, k of made-up matrices; zeros: files
  npy::DataType type = npy::DataType::float64;
  std::int64_t block = 0;  ///< of block-cyclic distributions; 0: one block a rank
  int repetitions = 3;
  bool wants_check = false;
  gemm::Algorithm algorithm = gemm::Algorithm::automatic;
  std::array<int, 3> layers{};  ///< zeros: chosen
  std::uint64_t memory_bytes = 0;
  percolate::EngineChoice engine = percolate::EngineChoice::automatic;
  bool uses_scratch = true;
  bool verifies_input = false;
  std::string machine_path;
  std::string device;  ///< "any", or as device::open takes it; empty: the processor
};

std::shared_ptr<GemmOptions> declare_gemm_options(CLI::App& app);

}  // namespace penstock::cli
