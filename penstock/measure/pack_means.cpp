#include <algorithm>
#include <cmath>

#include "penstock/measure/pack.hpp"

namespace penstock::measure {
namespace {

struct Group {
  const char* name;
  bool (*has)(const PackResult&);
};

constexpr Group groups[] = {
    {"all", [](const PackResult&) { return true; }},
    {"strided", [](const PackResult& result) { return result.group == PackGroup::strided; }},
    {"indexed", [](const PackResult& result) { return result.group == PackGroup::indexed; }},
    {"transposes", [](const PackResult& result) { return result.group == PackGroup::transpose; }},
    {"under 1 KiB", [](const PackResult& result) { return result.bytes < 1024; }},
};

}  // namespace

std::optional<double> PackResult::break_even_uses(const PackTimes& other) const {
  const double saved_s = other.min_s - ours.min_s;
  if (saved_s <= 0) {
    return std::nullopt;
  }
  return (costs.describe_s + costs.compile_s + costs.emit_s) / saved_s;
}

double PackResult::ratio_to_best() const {
  return std::min(mpi.min_s, hand.min_s) / ours.min_s;
}

std::vector<PackMean> pack_means(const std::vector<PackResult>& results) {
  std::vector<PackMean> means;
  for (const Group& group : groups) {
    for (const PackRegime regime : {PackRegime::hot, PackRegime::cold}) {
      for (const PackOperation operation : {PackOperation::pack, PackOperation::unpack}) {
        PackMean mean{.group = group.name, .regime = regime, .operation = operation};
        for (const PackResult& result : results) {
          if (group.has(result) && result.regime == regime && result.operation == operation) {
            ++mean.cases;
            mean.against_hand += std::log(result.hand.min_s / result.ours.min_s);
            mean.against_mpi += std::log(result.mpi.min_s / result.ours.min_s);
            mean.against_copy += std::log(result.copy.min_s / result.ours.min_s);
          }
        }
        if (mean.cases > 0) {
          for (double* sum : {&mean.against_hand, &mean.against_mpi, &mean.against_copy}) {
            *sum = std::exp(*sum / mean.cases);
          }
          means.push_back(mean);
        }
      }
    }
  }
  return means;
}

}  // namespace penstock::measure
