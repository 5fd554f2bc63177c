// Wisdom: what planning by measuring has learned about this machine. A program may keep it between runs. Included by
// fft.hpp.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "penstock/fft/kinds.hpp"
#include "penstock/shape/shape.hpp"

#pragma GCC visibility push(default)

namespace penstock::fft {

/// A tuning, and its predicted and measured times.
struct Candidate {
  Tuning tuning{};
  double predicted_s = 0;  ///< of one call, by the model; 0 where the machine's rates do not suffice for a prediction
  double measured_s = 0;   ///< 0 where it was not measured
  bool operator==(const Candidate&) const = default;
};

/// The tunings that measuring has found best, by problem, and the wisdom of the libraries of local transforms, which
/// all plans of the process share. Thread-safe; not copyable.
class Wisdom {
 public:
  /// Adds the wisdom in `text`, which `text()` of an earlier run has returned. Returns false where the text is of
  /// another version or damaged. Where tunings are damaged none is added; where a library's part is damaged, nothing of
  /// that part.
  bool read(const std::string& text);
  std::string text() const;

  /// The best tuning of the problem `problem`; nothing where it is not known.
  std::optional<Candidate> find(const std::string& problem) const;
  void keep(const std::string& problem, const Candidate& best);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Candidate> by_problem_;
};

}  // namespace penstock::fft

#pragma GCC visibility pop
