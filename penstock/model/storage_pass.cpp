#include "penstock/model/storage_pass.hpp"

#include <algorithm>

namespace penstock::model {

double storage_pass_s(const StorageCosts& figures, const StoragePass& pass) noexcept {
  const double move_s = pass.read_bytes / figures.read_bytes_per_s + pass.written_bytes / figures.write_bytes_per_s;
  const double compute_s = pass.flops / figures.rate_flops;
  const double edge_s =
      std::min(pass.edge_bytes / figures.read_bytes_per_s + pass.edge_bytes / figures.write_bytes_per_s, move_s);
  return move_s + compute_s - std::min(compute_s, move_s - edge_s);
}

}  // namespace penstock::model
