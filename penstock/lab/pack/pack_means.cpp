#include <algorithm>
#include <cmath>

#include "penstock/lab/pack/pack.hpp"

namespace penstock::lab {
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

void add_break_even(PackMean& mean, std::vector<double>& uses) {
  std::sort(uses.begin(), uses.end());
  mean.never_even = mean.cases - static_cast<int>(uses.size());
  if (!uses.empty()) {
    mean.break_even_worst_uses = uses.back();
  }
  // Those that never are even stand at the end of the order.
  if (const auto middle = static_cast<std::size_t>(mean.cases / 2); middle < uses.size()) {
    mean.break_even_median_uses = uses[middle];
  }
}

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

double PackResult::median_ratio_to_best() const {
  return std::min(mpi.median_s, hand.median_s) / ours.median_s;
}

std::vector<PackMean> pack_means(const std::vector<PackResult>& results) {
  std::vector<PackMean> means;
  for (const Group& group : groups) {
    for (const PackRegime regime : {PackRegime::hot, PackRegime::cold}) {
      for (const PackOperation operation : {PackOperation::pack, PackOperation::unpack}) {
        PackMean mean{.group = group.name, .regime = regime, .operation = operation};
        std::vector<double> uses;
        for (const PackResult& result : results) {
          if (group.has(result) && result.regime == regime && result.operation == operation) {
            ++mean.cases;
            mean.against_hand += std::log(result.hand.min_s / result.ours.min_s);
            mean.against_mpi += std::log(result.mpi.min_s / result.ours.min_s);
            mean.against_copy += std::log(result.copy.min_s / result.ours.min_s);
            mean.emit_worst_s = std::max(mean.emit_worst_s, result.costs.emit_s);
            mean.first_use_worst_s = std::max(mean.first_use_worst_s, result.costs.first_use_s);
            if (const auto even = result.break_even_uses(result.mpi)) {
              uses.push_back(*even);
            }
          }
        }
        if (mean.cases > 0) {
          for (double* sum : {&mean.against_hand, &mean.against_mpi, &mean.against_copy}) {
            *sum = std::exp(*sum / mean.cases);
          }
          add_break_even(mean, uses);
          means.push_back(mean);
        }
      }
    }
  }
  return means;
}

}  // namespace penstock::lab
