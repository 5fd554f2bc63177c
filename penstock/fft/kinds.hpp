// The types of transforms, the kinds of those between real numbers, and scalings. Included by fft.hpp.
#pragma once

#include "penstock/shape/shape.hpp"

#pragma GCC visibility push(default)

namespace penstock::fft {

// The vocabulary of plans, in this namespace too. Direction 0 is x, which is contiguous in the input; 1 is y, 2 is z.
using shape::Box;
using shape::Extents;
using shape::Grid;
using shape::Range;
using shape::Tuning;

/// The elements before and after `forward`; `backward` is the other way round.
enum class Type {
  c2c,  ///< complex to complex
  r2c,  ///< real to complex: n/2 + 1 coefficients in the direction of the first Fourier transform, which determine the
        ///< others
  r2r,  ///< real to real, in each direction, see RealKind
};

/// The transforms between real numbers under FFTW's names, unscaled as in FFTW. A sine or cosine transform continues n
/// points evenly (redft: cosines) or oddly (rodft: sines), by mirroring at a point or half-way between two. N is the
/// period of the continuation.
enum class RealKind {
  redft00,  ///< DCT-I: N = 2 (n - 1), n at least 2; inverse of itself
  redft10,  ///< DCT-II: N = 2 n; the inverse is redft01
  redft01,  ///< DCT-III: N = 2 n; the inverse is redft10
  redft11,  ///< DCT-IV: N = 2 n; inverse of itself
  rodft00,  ///< DST-I: N = 2 (n + 1); inverse of itself
  rodft10,  ///< DST-II: N = 2 n; the inverse is rodft01
  rodft01,  ///< DST-III: N = 2 n; the inverse is rodft10
  rodft11,  ///< DST-IV: N = 2 n; inverse of itself
  r2hc,  ///< half-complex: real parts of wavenumbers 0 to n/2, imaginary ones of (n-1)/2 down to 1: N = n; the inverse
         ///< is hc2r
  hc2r,  ///< N = n; the inverse is r2hc
  dht,   ///< Hartley's: the sum of the parts by cosines and by sines, N = n; inverse of itself
};

/// A factor on the result of one transform. N is the product of the points in the directions of Fourier transforms and
/// of the periods that RealKind gives in those of others.
enum class Scaling {
  none,       ///< 1: forward then backward multiplies by N
  symmetric,  ///< 1/sqrt(N): forward and backward are unitary
  full,       ///< 1/N
};

}  // namespace penstock::fft

#pragma GCC visibility pop
