// How long each stage of a transform took, and what bounds it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/fft/fft.hpp"
#include "penstock/model/model.hpp"

namespace penstock::cli {

struct FftReport;

/// One stage: as planned on rank 0, as it ran in the best repetition (mean over ranks, of all fields of a batch), and
/// what it costs at least.
struct StageReport {
  fft::StagePlan plan;
  fft::StageTime time;
  model::FftLimit limit;

  double total_s() const noexcept { return time.gather_s + time.transform_s + time.scatter_s + time.wait_s; }
  /// "waiting" where that took more than half the time; else "memory" or "arithmetic", whichever takes longer at least;
  /// empty where no limit is known.
  std::string_view bound_by() const noexcept;
};

/// All stages of a transform in one direction, whose every rank moves as much as rank 0.
std::vector<StageReport> stage_reports(const FftReport& report, int ranks, const std::vector<fft::StagePlan>& plans,
                                       const fft::Breakdown& breakdown);

/// "x 25.1 ms, bound by memory; memory 12.1 ms, arithmetic 8.3 ms: 48 % of the limit reached", without a line's end.
std::string describe(const StageReport& stage);
nlohmann::ordered_json to_json(const std::vector<StageReport>& stages);

}  // namespace penstock::cli
