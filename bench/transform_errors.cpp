// Are transforms as exact as FFTW's? Both beside the definition in long double, which takes some minutes.
//
//     transform_errors [FIRST LAST [STEP]]
//
// All lengths FIRST to LAST (1 to 2048) and, where none are given, 200 larger ones with a prime factor above 100; all
// kinds and both precisions of the former, one kind in turn of the latter. The table has, for each kind, the root mean
// square over the lengths of the relative errors, in units of the precision's epsilon, ours over FFTW's, and the length
// where ours is the most times FFTW's. Status 1 where a ratio of the means is above 1.2.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "bench/fftw_names.hpp"
#include "penstock/base/base.hpp"
#include "penstock/transform/transform.hpp"
#include "tests/definition.hpp"

namespace {

using namespace penstock::transform;
using penstock::Memory;

constexpr double asked = 1.2;

struct NamedKind {
  Kind kind;
  const char* name;
  fftw_r2r_kind fftw;  // of sines and cosines
};
constexpr std::array kinds{NamedKind{Kind::forward, "forward", FFTW_R2HC},
                           NamedKind{Kind::backward, "backward", FFTW_R2HC},
                           NamedKind{Kind::real_to_complex, "real to complex", FFTW_R2HC},
                           NamedKind{Kind::complex_to_real, "complex to real", FFTW_R2HC},
                           NamedKind{Kind::redft00, "redft00", FFTW_REDFT00},
                           NamedKind{Kind::redft10, "redft10", FFTW_REDFT10},
                           NamedKind{Kind::redft01, "redft01", FFTW_REDFT01},
                           NamedKind{Kind::redft11, "redft11", FFTW_REDFT11},
                           NamedKind{Kind::rodft00, "rodft00", FFTW_RODFT00},
                           NamedKind{Kind::rodft10, "rodft10", FFTW_RODFT10},
                           NamedKind{Kind::rodft01, "rodft01", FFTW_RODFT01},
                           NamedKind{Kind::rodft11, "rodft11", FFTW_RODFT11}};

/// Runs FFTW's transform of one pencil, out of place.
template <class Real>
void run_fftw(const NamedKind& kind, int n, Real* from, Real* to) {
  using Fftw = penstock::bench::FftwNames<Real>;
  auto* const complex_from = reinterpret_cast<typename Fftw::Complex*>(from);
  auto* const complex_to = reinterpret_cast<typename Fftw::Complex*>(to);
  const unsigned flags = FFTW_ESTIMATE | FFTW_PRESERVE_INPUT;
  const auto plan = kind.kind == Kind::real_to_complex   ? Fftw::plan_forward_1d(n, from, complex_to, flags)
                    : kind.kind == Kind::complex_to_real ? Fftw::plan_backward_1d(n, complex_from, to, flags)
                    : kind.kind >= Kind::redft00
                        ? Fftw::plan_real_1d(n, from, to, kind.fftw, flags)
                        : Fftw::plan_complex_1d(n, complex_from, complex_to,
                                                kind.kind == Kind::forward ? FFTW_FORWARD : FFTW_BACKWARD, flags);
  Fftw::run(plan);
  Fftw::destroy(plan);
}

/// Numbers of one part or two, as long ones.
template <class Real>
std::vector<Long> widened(const std::vector<Real>& numbers, std::size_t parts) {
  std::vector<Long> wide;
  for (std::size_t i = 0; i < numbers.size(); i += parts) {
    wide.emplace_back(numbers[i], parts == 2 ? numbers[i + 1] : 0);
  }
  return wide;
}

/// In epsilons, relative to the root mean square of what is expected.
template <class Real>
double error_of(const std::vector<Real>& result, std::size_t parts, const std::vector<Long>& expected) {
  const std::vector<Long> numbers = widened(result, parts);
  long double error = 0;
  long double all = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error += std::norm(numbers[i] - expected[i]);
    all += std::norm(expected[i]);
  }
  return static_cast<double>(std::sqrt(error / all) / std::numeric_limits<Real>::epsilon());
}

/// Of one kind and precision, over all lengths.
struct Errors {
  double our_squares = 0;
  double their_squares = 0;
  double worst_ratio = 0;
  std::int64_t worst_length = 0;
  int lengths = 0;
  int above = 0;  // lengths where ours is more than `asked` times theirs

  void add(std::int64_t length, double ours, double theirs) {
    our_squares += ours * ours;
    their_squares += theirs * theirs;
    ++lengths;
    if (theirs > 0 && ours > worst_ratio * theirs) {
      worst_ratio = ours / theirs;
      worst_length = length;
    }
    above += theirs > 0 && ours > asked * theirs ? 1 : 0;
  }
  double ratio() const { return their_squares > 0 ? std::sqrt(our_squares / their_squares) : 0; }
};

template <class Real>
void compare(const NamedKind& kind, std::int64_t n, Errors& errors) {
  if (kind.kind == Kind::redft00 && n == 1) {
    return;
  }
  const Transform<Real> transform({.length = n, .kind = kind.kind, .pencils = 1});
  const auto parts = [](std::int64_t bytes) { return static_cast<std::size_t>(bytes) / sizeof(Real); };
  const std::size_t source_parts = parts(transform.source_number_bytes());
  const std::size_t result_parts = parts(transform.destination_number_bytes());
  std::mt19937 generator(static_cast<unsigned>(n));
  std::normal_distribution<Real> normal;
  std::vector<Real> source;
  for (std::size_t i = 0; i < static_cast<std::size_t>(transform.source_points()) * source_parts; ++i) {
    source.push_back(normal(generator));
  }
  if (kind.kind == Kind::complex_to_real) {  // what has to be real for a real field, or is ignored
    source[1] = 0;
    source.back() = n % 2 == 0 ? 0 : source.back();
  }
  const std::vector<Long> expected = by_definition(kind.kind, widened(source, source_parts), n);
  std::vector<Real> ours(expected.size() * result_parts);
  std::vector<Real> theirs = ours;
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
  for (std::int64_t k = 0; k < n; ++k) {
    from.push_back(k * transform.source_number_bytes());
    to.push_back(k * transform.destination_number_bytes());
  }
  const Memory scratch(transform.scratch_bytes());
  transform.run({reinterpret_cast<const std::byte*>(source.data()), from.data(), transform.source_number_bytes()},
                {reinterpret_cast<std::byte*>(ours.data()), to.data(), transform.destination_number_bytes()}, 1,
                {scratch.data(), transform.scratch_bytes()});
  run_fftw<Real>(kind, static_cast<int>(n), source.data(), theirs.data());
  errors.add(n, error_of(ours, result_parts, expected), error_of(theirs, result_parts, expected));
}

std::int64_t largest_prime_of(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t p = 2; n > 1; ++p) {
    for (; n % p == 0; n /= p) {
      largest = p;
    }
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  std::map<std::pair<std::size_t, bool>, Errors> all;
  const auto compare_both = [&](std::size_t k, std::int64_t n) {
    compare<double>(kinds[k], n, all[{k, false}]);
    compare<float>(kinds[k], n, all[{k, true}]);
  };
  for (std::int64_t n = number(1, 1); n <= number(2, 2048); n += number(3, 1)) {
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      compare_both(k, n);
    }
  }
  std::int64_t n = 2049;
  for (std::size_t larger = 0; argc == 1 && larger < 200; n += 47) {
    if (largest_prime_of(n) > 100) {
      compare_both(larger++ % kinds.size(), n);
    }
  }
  fmt::print("| kind            | precision | lengths | ours  | FFTW's | ratio | above {} | most         |\n", asked);
  bool is_worse = false;
  for (const auto& [key, errors] : all) {
    const auto mean = [&](double squares) { return std::sqrt(squares / errors.lengths); };
    fmt::print("| {:<15} | {:<9} | {:>7} | {:5.3f} | {:6.3f} | {:5.2f} | {:>9} | {:4.2f} at {:>5} |\n",
               kinds[key.first].name, key.second ? "single" : "double", errors.lengths, mean(errors.our_squares),
               mean(errors.their_squares), errors.ratio(), errors.above, errors.worst_ratio, errors.worst_length);
    is_worse = is_worse || errors.ratio() > asked;
  }
  return is_worse ? 1 : 0;
}
