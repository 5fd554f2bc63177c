// Sums over where a transform's time went.
#include "penstock/fft/fft.hpp"

namespace penstock::fft {

double Breakdown::transform_s() const noexcept {
  double sum_s = 0;
  for (const StageTime& stage : stages) {
    sum_s += stage.transform_s;
  }
  return sum_s;
}

double Breakdown::move_s() const noexcept {
  double sum_s = 0;
  for (const StageTime& stage : stages) {
    sum_s += stage.gather_s + stage.scatter_s;
  }
  return sum_s;
}

double Breakdown::wait_s() const noexcept {
  double sum_s = 0;
  for (const StageTime& stage : stages) {
    sum_s += stage.wait_s;
  }
  return sum_s;
}

void Breakdown::add(const Breakdown& other, double share) noexcept {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    stages[i].gather_s += share * other.stages[i].gather_s;
    stages[i].transform_s += share * other.stages[i].transform_s;
    stages[i].scatter_s += share * other.stages[i].scatter_s;
    stages[i].wait_s += share * other.stages[i].wait_s;
  }
  total_s += share * other.total_s;
}

}  // namespace penstock::fft
