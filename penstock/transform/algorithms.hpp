// The cheapest algorithm for a length, made of the available passes. Private to the module.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace penstock::transform {

/// How a length is transformed.
struct Algorithm {
  enum class Kind : std::uint8_t {
    passes,     ///< by radices alone
    split,      ///< into `part` transforms of the rest and transforms of `part`
    rader,      ///< a prime, as a convolution of one point less
    bluestein,  ///< as a convolution of `part` points
  };
  Kind kind = Kind::passes;
  double cost = std::numeric_limits<double>::infinity();
  std::int64_t part = 0;  ///< of passes: the radix of one of them
};

/// What the numbers of a vector are of.
enum class Vectors {
  across_pencils,  ///< the same point of pencils side by side: one root for all
  along_pencil,    ///< points of one pencil, each with a root of its own
};

/// The cheapest algorithms of lengths, in operations on vectors for each row.
class Algorithms {
 public:
  /// With passes of these radices, on a processor with so many registers for vectors. The length that is the product of
  /// `preferred` is transformed by those, in their order.
  Algorithms(Vectors vectors, std::vector<int> radices, int vector_registers, std::vector<int> preferred = {});

  /// The cheapest algorithm, remembered.
  Algorithm cheapest(std::int64_t n);
  double cost(std::int64_t n) { return cheapest(n).cost; }
  /// The radices of a length that is transformed by passes alone, in their order.
  std::vector<int> factors(std::int64_t n);
  /// The same, but that the last pass has a multiple of `butterflies`, if any of the radices leaves that.
  std::vector<int> factors(std::int64_t n, std::int64_t butterflies);
  /// Radices of a length that has them that cost at most twice as much as the best, the cheapest first, at most `most`
  /// lists; each the largest radix first, and the cheapest ones the other way round as well.
  std::vector<std::vector<int>> candidates(std::int64_t n, std::size_t most);
  bool has_radix(int radix) const;

 private:
  double pass_cost(int radix) const;
  /// A good length of 2 n - 1 points or more.
  std::int64_t padded_length(std::int64_t n);

  Vectors vectors_;
  std::vector<int> radices_;
  int vector_registers_;
  std::vector<int> preferred_;
  std::map<std::int64_t, Algorithm> algorithms_;
};

}  // namespace penstock::transform
