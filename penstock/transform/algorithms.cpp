#include "penstock/transform/algorithms.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "penstock/transform/numbers.hpp"

namespace penstock::transform {
namespace {

/// Additions and multiplications of a butterfly, as `transformed` in butterflies.hpp does them.
constexpr double operations(int radix) {
  switch (radix) {
    case 1:
      return 0;
    case 2:
      return 4;
    case 4:
      return 16;
    case 6:
      return 2 * 14 + 3 * 4 + 2 * 4;
    case 8:
      return 4 * 4 + 2 * 16 + 2 * 4;
    case 9:
      return 6 * 14 + 4 * 4;
    case 10:
      return 5 * 4 + 2 * 36 + 4 * 4;
    case 12:
      return 3 * 16 + 4 * 14 + 6 * 4;
    case 15:
      return 5 * 14 + 3 * 36 + 8 * 4;
    case 16:
      return 8 * 16 + 8 * 4;
    default: {
      const double half = (radix - 1) / 2;
      return half * (4 * half + 10);
    }
  }
}

}  // namespace

Algorithms::Algorithms(Vectors vectors, std::vector<int> radices, int vector_registers, std::vector<int> preferred)
    : vectors_(vectors),
      radices_(std::move(radices)),
      vector_registers_(vector_registers),
      preferred_(std::move(preferred)) {}

bool Algorithms::has_radix(int radix) const {
  return std::ranges::find(radices_, radix) != radices_.end();
}

double Algorithms::pass_cost(int radix) const {
  // Legs are loaded and stored; ten vectors besides them, of roots and sums, want registers too: what does not fit is
  // stored and loaded again, the more often the more legs there are. The weights rank the radices as they were measured
  // with 16 vectors of 32 bytes (EPYC 7003) and with 32 of 64 (EPYC 9004), where half of such a vector goes through the
  // cache at a time.
  const int numbers = 2 * radix;
  const double spilt = std::max(0, numbers + 10 - vector_registers_);
  const double weight = vector_registers_ > 16 ? 1 : 0.6;
  const double roots = vectors_ == Vectors::along_pencil ? 2.0 * (radix - 1) : 0;
  return operations(radix) + 4.0 * (radix - 1) + 4 * numbers + roots + weight * spilt * radix;
}

Algorithm Algorithms::cheapest(std::int64_t n) {
  if (const auto known = algorithms_.find(n); known != algorithms_.end()) {
    return known->second;
  }
  Algorithm best;
  const auto offer = [&](Algorithm::Kind kind, double cost, std::int64_t part) {
    if (cost < best.cost) {
      best = {kind, cost, part};
    }
  };
  if (n == 1) {
    offer(Algorithm::Kind::passes, 0, 1);
  }
  const std::int64_t prime = largest_prime_factor(n);
  const auto count = static_cast<double>(n);
  if (prime <= 13) {
    for (const int radix : radices_) {
      if (radix > 1 && n % radix == 0) {
        offer(Algorithm::Kind::passes, count / radix * pass_cost(radix) + radix * cost(n / radix), radix);
      }
    }
  } else {
    if (prime < n) {
      const std::int64_t rest = n / prime;
      offer(Algorithm::Kind::split, static_cast<double>(rest) * cost(prime) + static_cast<double>(prime) * cost(rest),
            prime);
    } else if (largest_prime_factor(n - 1) <= 97) {
      constexpr double steps = 16;  // per point of the convolution's products and of the first one
      offer(Algorithm::Kind::rader, 2 * cost(n - 1) + steps * count, n);
    }
    constexpr double steps = 8;  // per point of the chirps and the convolution's products
    const std::int64_t padded = padded_length(n);
    const double factors = static_cast<double>(padded) + 2 * count;
    offer(Algorithm::Kind::bluestein, 2 * cost(padded) + steps * factors, padded);
  }
  algorithms_[n] = best;
  return best;
}

std::int64_t Algorithms::padded_length(std::int64_t n) {
  std::int64_t best = 0;
  for (std::int64_t m = 2 * n - 1; best == 0 || m < 2 * n + n / 4; ++m) {
    if (largest_prime_factor(m) <= 13 && (best == 0 || cost(m) < cost(best))) {
      best = m;
    }
  }
  return best;
}

std::vector<int> Algorithms::factors(std::int64_t n) {
  if (!preferred_.empty() && product(preferred_) == n) {
    return preferred_;
  }
  std::vector<int> found;
  for (; n > 1; n /= found.back()) {
    found.push_back(static_cast<int>(cheapest(n).part));
  }
  // The pass that meets the most streams of memory has the smallest radix. Across pencils that is the last, which
  // stores: a tenth faster than the other way round. Along them all last passes are the same, and it is the first.
  if (vectors_ == Vectors::across_pencils) {
    std::ranges::sort(found, std::greater());
  } else {
    std::ranges::sort(found);
  }
  return found;
}

std::vector<int> Algorithms::factors(std::int64_t n, std::int64_t butterflies) {
  std::vector<int> found = factors(n);
  const auto leaves = [&](int radix) { return n / radix % butterflies == 0; };
  // As near to the end as there is one.
  if (const auto last = std::find_if(found.rbegin(), found.rend(), leaves); last != found.rend()) {
    std::rotate(last.base() - 1, last.base(), found.end());
  }
  return found;
}

std::vector<std::vector<int>> Algorithms::candidates(std::int64_t n, std::size_t most) {
  std::vector<std::pair<double, std::vector<int>>> found;
  std::vector<int> radices;
  const double max_cost = 2 * cost(n);
  const auto points = static_cast<double>(n);
  // All lists of radices from the largest down whose product is n.
  const auto extend = [&](const auto& self, std::int64_t rest, double so_far) -> void {
    if (so_far > max_cost) {
      return;
    }
    if (rest == 1) {
      found.emplace_back(so_far, radices);
      return;
    }
    for (const int radix : radices_) {
      if (radix > 1 && rest % radix == 0 && (radices.empty() || radix <= radices.back())) {
        radices.push_back(radix);
        self(self, rest / radix, so_far + points / radix * pass_cost(radix));
        radices.pop_back();
      }
    }
  };
  extend(extend, n, 0);
  std::ranges::sort(found);
  std::vector<std::vector<int>> lists;
  for (const auto& [cost, list] : found) {
    lists.push_back(list);
    if (!list.empty() && list.front() != list.back()) {
      lists.emplace_back(list.rbegin(), list.rend());
    }
    if (lists.size() >= most) {
      break;
    }
  }
  return lists;
}

}  // namespace penstock::transform
