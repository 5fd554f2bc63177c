// The kinds of transforms of a pencil. Included by transform.hpp.
#pragma once

#pragma GCC visibility push(default)

namespace penstock::transform {

/// The transform of a pencil. n is the pencil's length, x_j are its points, X_k those of the result.
enum class Kind {
  forward,          ///< X_k is the sum of x_j exp(-2 pi i j k / n)
  backward,         ///< the same with +2 pi i
  real_to_complex,  ///< the first n / 2 + 1 points of the forward transform of real points
  complex_to_real,  ///< the backward transform of n points whose result is real; x_j are the first n / 2 + 1 of them
  // Of real points, under FFTW's names and unscaled as there: X_k is a real sum over j.
  // Where x_0 or x_n-1 stands apart, the sum is over the other points.
  redft00,  ///< x_0 + (-1)^k x_n-1 + 2 x_j cos(pi j k / (n - 1)); n at least 2
  redft10,  ///< 2 x_j cos(pi (j + 1/2) k / n)
  redft01,  ///< x_0 + 2 x_j cos(pi j (k + 1/2) / n)
  redft11,  ///< 2 x_j cos(pi (j + 1/2) (k + 1/2) / n)
  rodft00,  ///< 2 x_j sin(pi (j + 1) (k + 1) / (n + 1))
  rodft10,  ///< 2 x_j sin(pi (j + 1/2) (k + 1) / n)
  rodft01,  ///< (-1)^k x_n-1 + 2 x_j sin(pi (j + 1) (k + 1/2) / n)
  rodft11,  ///< 2 x_j sin(pi (j + 1/2) (k + 1/2) / n)
  r2hc,     ///< half-complex: for k to n / 2 the real part of the forward transform of k, then the imaginary of n - k
  hc2r,     ///< the backward transform of half-complex numbers
  dht,      ///< Hartley's: x_j (cos(2 pi j k / n) + sin(2 pi j k / n))
};

}  // namespace penstock::transform

#pragma GCC visibility pop
