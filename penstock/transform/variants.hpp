// Which of several factorisations of a length is the fastest on this machine: found by timing, and remembered. Private
// to the module.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "penstock/transform/program.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::transform {

/// The variants that timing has found best, by the name of the problem. Thread-safe.
class Variants {
 public:
  /// What the whole process knows.
  static Variants& known();

  std::optional<Variant> find(const std::string& problem) const;
  void keep(const std::string& problem, const Variant& variant);
  /// Takes over what `text` has written. Returns false, and changes nothing, where a line is damaged.
  bool read(const std::string& text);
  /// A line for each problem.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Variant> by_problem_;
};

/// The fastest variant for data in cache, as it is remembered, or by timing some for some milliseconds.
template <class Real>
Variant fastest_variant(const Shape& shape, InstructionSet set);

}  // namespace penstock::transform
