// What a plan may choose, and what planning by measuring has found before. Included by fft.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace penstock::fft {

/// A processor grid: rank r holds row r % ty of plane group r / ty. 0 x 0 lets the plan choose.
struct Grid {
  int ty = 0;
  int tz = 0;
  bool operator==(const Grid&) const = default;
};

/// One way to run a transform.
struct Candidate {
  Grid grid;
  std::int64_t grain = 0;         ///< planes per message; 0: all
  std::int64_t late_eighths = 0;  ///< as in Options
  double predicted_s = 0;         ///< of one call, by the model of the machine; 0 where its figures do not suffice
  double measured_s = 0;          ///< 0 where it was not measured
  bool operator==(const Candidate&) const = default;
  /// Whether both are the same way, whatever is known of its time.
  bool is_as(const Candidate& other) const noexcept {
    return grid == other.grid && grain == other.grain && late_eighths == other.late_eighths;
  }
};

/// The choices that measuring has found best, by problem. Thread-safe; not copyable.
class Choices {
 public:
  /// Takes over what `text()` of an earlier run has written. Returns false, and changes nothing, where the text is not
  /// of this version or damaged.
  bool read(const std::string& text);
  std::string text() const;

  std::optional<Candidate> find(const std::string& problem) const;
  void keep(const std::string& problem, const Candidate& choice);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Candidate> by_problem_;
};

}  // namespace penstock::fft
