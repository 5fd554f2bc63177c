// What planning by measuring has learned about this machine, kept between runs by whoever likes to. Included by
// fft.hpp.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "penstock/fft/kinds.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::fft {

/// A tuning, and what is known of its time.
struct Candidate {
  Tuning tuning{};
  double predicted_s = 0;  ///< of one call, by the model of the machine; 0 where its figures do not suffice
  double measured_s = 0;   ///< 0 where it was not measured
  bool operator==(const Candidate&) const = default;
};

/// The tunings that measuring has found best, by problem; and what local transforms have learned, which all plans of
/// the process share. Thread-safe; not copyable.
class Wisdom {
 public:
  /// Adds what `text()` of an earlier run has told. Returns false where that is not of this version or damaged. Of
  /// damaged tunings none is added, of a damaged library of local transforms nothing of that library.
  bool read(const std::string& text);
  std::string text() const;

  /// Of the problem of that name.
  std::optional<Candidate> find(const std::string& problem) const;
  void keep(const std::string& problem, const Candidate& best);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Candidate> by_problem_;
};

}  // namespace penstock::fft
