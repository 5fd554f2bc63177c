#include "penstock/transform/numbers.hpp"

#include <functional>
#include <numeric>

#include "penstock/transform/roots.hpp"

namespace penstock::transform {

std::complex<long double> root(std::int64_t k, std::int64_t n) {
  const Root<long double> value = root_of_unity<long double>(k, n);
  return {value.re, value.im};
}

std::int64_t product(const std::vector<int>& factors) {
  return std::accumulate(factors.begin(), factors.end(), std::int64_t{1}, std::multiplies());
}

std::int64_t smallest_prime_factor(std::int64_t n) {
  for (std::int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) {
      return p;
    }
  }
  return n;
}

std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t p = smallest_prime_factor(n);
  for (; n > 1; n /= p) {
    p = smallest_prime_factor(n);
  }
  return p;
}

namespace {

/// The transform of every stride-th point of x from `first` on. `roots` are those of x's own length.
Points transformed(const Points& x, const Points& roots, std::size_t first, std::size_t stride) {
  const std::size_t n = x.size() / stride;
  if (n == 1) {
    return {x[first]};
  }
  const auto p = static_cast<std::size_t>(smallest_prime_factor(static_cast<std::int64_t>(n)));
  const std::size_t m = n / p;
  Points y(n);
  for (std::size_t j = 0; j < p; ++j) {
    const Points part = transformed(x, roots, first + j * stride, stride * p);
    for (std::size_t q = 0; q < n; ++q) {
      y[q] += part[q % m] * roots[j * q % n * stride];
    }
  }
  return y;
}

}  // namespace

Points transformed(const Points& x) {
  Points roots;
  for (std::size_t k = 0; k < x.size(); ++k) {
    roots.push_back(root(static_cast<std::int64_t>(k), static_cast<std::int64_t>(x.size())));
  }
  return transformed(x, roots, 0, 1);
}

namespace {

std::int64_t power(std::int64_t base, std::int64_t exponent, std::int64_t modulus) {
  std::int64_t result = 1;
  for (; exponent > 0; exponent /= 2, base = base * base % modulus) {
    if (exponent % 2 != 0) {
      result = result * base % modulus;
    }
  }
  return result;
}

}  // namespace

std::int64_t primitive_root(std::int64_t p) {
  const auto generates = [&](std::int64_t g) {
    for (std::int64_t rest = p - 1; rest > 1;) {
      const std::int64_t q = smallest_prime_factor(rest);
      if (power(g, (p - 1) / q, p) == 1) {
        return false;
      }
      while (rest % q == 0) {
        rest /= q;
      }
    }
    return true;
  };
  std::int64_t g = 1;
  while (!generates(g)) {
    ++g;
  }
  return g;
}

}  // namespace penstock::transform
