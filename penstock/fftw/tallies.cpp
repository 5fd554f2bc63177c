#include "penstock/fftw/tallies.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>

#include "penstock/fftw/communicators.hpp"
#include "penstock/fftw/settings.hpp"

namespace penstock::fftw {
namespace {

struct Tally {
  long plans = 0;
  long runs = 0;
  double seconds = 0;
  double operations = 0;
  std::map<std::string, long, std::less<>> passed_on;  // by why
};

/// The calls of this process, by function; written to standard error when it ends.
class Tallies {
 public:
  static Tallies* get() {
    static const std::unique_ptr<Tallies> tallies(mode() == Mode::stats ? new Tallies : nullptr);
    return tallies.get();
  }

  ~Tallies() {
    if (!is_spokesman_) {
      return;
    }
    std::string text = fmt::format("{:<30} {:>7} {:>9} {:>10} {:>9}  passed on to FFTW\n", "penstock: FFTW's function",
                                   "served", "runs", "seconds", "GFlop/s");
    for (const auto& [function, tally] : by_function_) {
      text += fmt::format("{:<30} {:>7} {:>9} {:>10.4f} {:>9.2f} ", function, tally.plans, tally.runs, tally.seconds,
                          tally.seconds > 0 ? tally.operations / tally.seconds / 1e9 : 0.0);
      for (const auto& [why, plans] : tally.passed_on) {
        text += fmt::format(" {} ({})", plans, why);
      }
      text += "\n";
    }
    std::fputs(text.c_str(), stderr);
  }

  template <class Change>
  void change(std::string_view function, const Change& change) {
    const std::lock_guard lock(mutex_);
    is_spokesman_ = is_spokesman_ && is_spokesman();  // MPI may begin late, and has ended when this ends
    auto found = by_function_.find(function);
    if (found == by_function_.end()) {
      found = by_function_.emplace(std::string(function), Tally()).first;
    }
    change(found->second);
  }

 private:
  std::mutex mutex_;
  bool is_spokesman_ = true;
  std::map<std::string, Tally, std::less<>> by_function_;
};

}  // namespace

void count_served(std::string_view function) {
  if (Tallies* const tallies = Tallies::get()) {
    tallies->change(function, [](Tally& tally) { ++tally.plans; });
  }
}

void count_passed_on(std::string_view function, std::string_view why) {
  if (Tallies* const tallies = Tallies::get()) {
    tallies->change(function, [&](Tally& tally) { ++tally.passed_on[std::string(why)]; });
  }
}

void count_run(std::string_view function, double seconds, double operations) {
  if (Tallies* const tallies = Tallies::get()) {
    tallies->change(function, [&](Tally& tally) {
      ++tally.runs;
      tally.seconds += seconds;
      tally.operations += operations;
    });
  }
}

}  // namespace penstock::fftw
