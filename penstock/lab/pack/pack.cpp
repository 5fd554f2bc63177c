#include "penstock/lab/pack/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <regex>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/lab/pack/pack_contenders.hpp"
#include "penstock/lab/pack/pack_costs.hpp"
#include "penstock/lab/pack/pack_memory.hpp"
#include "penstock/lab/pack/pack_rounds.hpp"

namespace penstock::lab {
namespace {

std::vector<PackCase> chosen_cases(const std::string& filter) {
  std::vector<PackCase> cases = pack_cases();
  try {
    const std::regex pattern(filter);
    std::erase_if(cases, [&](const PackCase& each) { return !std::regex_search(each.name, pattern); });
  } catch (const std::regex_error&) {
    throw Error(fmt::format("the filter '{}' is no regular expression", filter));
  }
  if (cases.empty()) {
    throw Error(fmt::format("the filter '{}' leaves none of the cases, whose names are such as {}", filter,
                            pack_cases().front().name));
  }
  return cases;
}

std::size_t arena_bytes(const std::vector<PackCase>& cases, const PackOptions& options) {
  std::int64_t bytes = 0;
  for (const PackCase& each : cases) {
    bytes = std::max(bytes, each.array_bytes);
    for (const HandLoop& loop : each.hand) {
      bytes = std::max(bytes, loop.packed_offset + packed_bytes(loop));
    }
  }
  const bool is_cold =
      std::find(options.regimes.begin(), options.regimes.end(), PackRegime::cold) != options.regimes.end();
  return static_cast<std::size_t>(is_cold ? std::max(bytes, cold_arena_bytes) : bytes);
}

/// One row of the report on its way.
struct Run {
  const PreparedCase& prepared;
  const PackPlaces& places;
  Contenders contenders;
  PackResult result;
  PackSamples samples;
};

PackTimes times_of(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  return {samples.front(), samples[samples.size() / 2]};
}

const char* name(mover::Hint hint) {
  return hint == mover::Hint::reuse ? "reuse" : hint == mover::Hint::from_memory ? "from memory" : "streaming";
}

std::string describe(const PackResult& result) {
  return fmt::format("{} {} {}", result.regime == PackRegime::hot ? "hot" : "cold",
                     result.operation == PackOperation::pack ? "pack" : "unpack", result.name);
}

/// The cases prepared and verified, and their costs measured.
class PackBench {
 public:
  PackBench(const std::vector<PackCase>& cases, const PackOptions& options)
      : options_(options), array_(arena_bytes(cases, options)), packed_(arena_bytes(cases, options)) {
    for (const PackCase& each : cases) {
      prepared_.emplace_back(each);
      options_.progress(fmt::format("verifying {}", each.name), static_cast<int>(prepared_.size()),
                        static_cast<int>(cases.size()));
      prepare_runs(prepared_.back());
    }
  }

  /// Sweep `number` of `count`, from 0.
  void sweep(int rounds, double max_s, int number, int count) {
    const int runs = static_cast<int>(runs_.size());
    int run_number = number * runs;
    for (Run& run : runs_) {
      options_.progress(describe(run.result), ++run_number, count * runs);
      const trace::Step step(describe(run.result), number + 1);
      run_rounds(run.contenders, run.places, array_.data(), packed_.data(), rounds, max_s, run.samples);
    }
  }

  PackReport report() {
    PackReport report{.results = {}, .hand_instruction_set = hand_instruction_set(), .not_unpacked = not_unpacked_};
    for (Run& run : runs_) {
      auto& [ours, mpi, hand, copy] = run.samples;
      run.result.rounds = static_cast<int>(ours.size());
      run.result.ours = times_of(ours);
      run.result.mpi = times_of(mpi);
      run.result.hand = times_of(hand);
      run.result.copy = times_of(copy);
      run.result.mover = run.contenders.mover().describe();
      report.results.push_back(run.result);
    }
    return report;
  }

 private:
  const PackPlaces& places_of(const PreparedCase& prepared, PackRegime regime) {
    if (regime == PackRegime::hot) {
      return hot_;
    }
    const PackCase& each = prepared.description;
    cold_.push_back({cold_places(prepared.typed.displaced(each.offset), each.array_bytes, array_.size()),
                     cold_places(layout::Layout::contiguous(prepared.bytes), prepared.bytes, packed_.size())});
    return cold_.back();
  }

  void prepare_runs(const PreparedCase& prepared) {
    const PackCase& each = prepared.description;
    std::vector<std::pair<PackRegime, const PackPlaces*>> regimes;
    for (const PackRegime regime : options_.regimes) {
      regimes.emplace_back(regime, &places_of(prepared, regime));
    }
    for (const PackOperation operation : options_.operations) {
      if (operation == PackOperation::unpack && each.is_overlapping) {
        not_unpacked_.push_back(each.name);
        continue;
      }
      const PackCosts costs = measure_costs(each, operation, array_.data(), packed_.data());
      for (const auto& [regime, places] : regimes) {
        const Contenders contenders(prepared, regime, operation);
        verify(prepared, contenders, operation, array_.data(), packed_.data());
        runs_.push_back({prepared,
                         *places,
                         contenders,
                         {.name = each.name,
                          .group = each.group,
                          .regime = regime,
                          .operation = operation,
                          .bytes = prepared.bytes,
                          .hint = name(contenders.hint()),
                          .costs = costs},
                         {}});
      }
    }
  }

  const PackOptions& options_;
  Arena array_;
  Arena packed_;
  // Deques, as runs refer to their elements.
  std::deque<PreparedCase> prepared_;
  std::deque<PackPlaces> cold_;
  PackPlaces hot_;
  std::vector<Run> runs_;
  std::vector<std::string> not_unpacked_;
};

}  // namespace

PackReport measure_packing(const PackOptions& options) {
  const std::vector<PackCase> cases = chosen_cases(options.filter);
  PackBench bench(cases, options);
  // Each case comes up again after a while, so that what disturbs the machine for seconds disturbs no case in whole.
  const int sweeps = std::min(3, options.rounds);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const int rounds = options.rounds * (sweep + 1) / sweeps - options.rounds * sweep / sweeps;
    bench.sweep(rounds, options.case_s / sweeps, sweep, sweeps);
  }
  return bench.report();
}

}  // namespace penstock::lab
