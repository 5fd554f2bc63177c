// Primes, their generators, and transforms in long double, for the constants of programs. Private to the module.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace penstock::transform {

using Points = std::vector<std::complex<long double>>;

/// exp(-2 pi i k / n), 0 <= k < n.
std::complex<long double> root(std::int64_t k, std::int64_t n);

/// 1 for none.
std::int64_t product(const std::vector<int>& factors);

/// Of 2 or more.
std::int64_t smallest_prime_factor(std::int64_t n);
/// 1 for 1.
std::int64_t largest_prime_factor(std::int64_t n);

/// The smallest generator of the numbers 1 to p - 1 under multiplication modulo p, a prime.
std::int64_t primitive_root(std::int64_t p);

/// The forward transform, in a time of the length times the sum of its primes.
Points transformed(const Points& x);

}  // namespace penstock::transform
