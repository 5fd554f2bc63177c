// FFTW's planners of one process, by their names.
#include <fftw3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "penstock/fftw/planners.hpp"
#include "penstock/fftw/real.hpp"

namespace {

using penstock::fftw::Asked;
using penstock::fftw::AskedAlone;
using penstock::fftw::Dimension;
using penstock::fftw::Kind;

constexpr Kind direction(int sign) {
  return sign == FFTW_FORWARD ? Kind::complex_forward : Kind::complex_backward;
}

/// How the arrays of FFTW's advanced interface lie: nullptr for the lengths of a dimension's whole array.
struct Side {
  const int* embedded;
  std::ptrdiff_t stride;
  std::ptrdiff_t distance;
};

void* serve_dimensions(const Asked& asked, Kind kind, std::span<const Dimension> dimensions,
                       std::span<const Dimension> repeated, const int* kinds) {
  return penstock::fftw::serve(
      asked, AskedAlone{.kind = kind, .dimensions = dimensions, .repeated = repeated, .kinds = kinds});
}

/// The lengths of a side's array, of which the last one is half of complex numbers, or padded for them in place.
std::vector<std::ptrdiff_t> lengths_of(std::span<const int> n, const Side& side, Kind kind, bool is_input,
                                       bool is_in_place) {
  std::vector<std::ptrdiff_t> lengths(n.begin(), n.end());
  if (side.embedded != nullptr) {
    lengths.assign(side.embedded, side.embedded + n.size());
  } else if (!lengths.empty()) {
    const bool is_half = (kind == Kind::real_to_complex && !is_input) || (kind == Kind::complex_to_real && is_input);
    const bool is_real = (kind == Kind::real_to_complex && is_input) || (kind == Kind::complex_to_real && !is_input);
    const std::ptrdiff_t half = lengths.back() / 2 + 1;
    lengths.back() = is_half ? half : is_real && is_in_place ? 2 * half : lengths.back();
  }
  return lengths;
}

void* serve_many(const Asked& asked, Kind kind, int rank, const int* n, int howmany, const Side& in, const Side& out,
                 const int* kinds) {
  if (rank < 1 || rank > 3) {
    return serve_dimensions(asked, kind, {}, {}, kinds);
  }
  const std::span lengths(n, static_cast<std::size_t>(rank));
  const bool is_in_place = asked.in == asked.out;
  const auto in_lengths = lengths_of(lengths, in, kind, true, is_in_place);
  const auto out_lengths = lengths_of(lengths, out, kind, false, is_in_place);
  std::vector<Dimension> dimensions(lengths.size());
  std::ptrdiff_t in_stride = in.stride;
  std::ptrdiff_t out_stride = out.stride;
  for (std::size_t i = lengths.size(); i-- > 0;) {
    dimensions[i] = {lengths[i], in_stride, out_stride};
    in_stride *= in_lengths[i];
    out_stride *= out_lengths[i];
  }
  const Dimension repeated{howmany, in.distance, out.distance};
  return serve_dimensions(asked, kind, dimensions, {&repeated, 1}, kinds);
}

/// The dimensions of FFTW's guru interfaces.
template <class Given>
std::vector<Dimension> dimensions_of(int rank, const Given* given) {
  std::vector<Dimension> dimensions;
  for (int i = 0; i < rank; ++i) {
    dimensions.push_back({given[i].n, given[i].is, given[i].os});
  }
  return dimensions;
}

template <class Given>
void* serve_guru(const Asked& asked, Kind kind, int rank, const Given* dims, int howmany_rank, const Given* repeated,
                 const int* kinds) {
  if (rank < 1 || rank > 3 || howmany_rank < 0 || howmany_rank > 8) {
    return serve_dimensions(asked, kind, {}, {}, kinds);  // which passes it on
  }
  return serve_dimensions(asked, kind, dimensions_of(rank, dims), dimensions_of(howmany_rank, repeated), kinds);
}

constexpr Side plain{nullptr, 1, 0};

static_assert(sizeof(fftw_r2r_kind) == sizeof(int));

const int* numbers(const fftw_r2r_kind* kinds) {
  return reinterpret_cast<const int*>(kinds);
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PENSTOCK_OR_PASS_ON(NAME, OURS, ...)                              \
  void* const ours = OURS;                                                \
  return ours != nullptr ? static_cast<decltype(NAME(__VA_ARGS__))>(ours) \
                         : penstock::fftw::pass_on(PENSTOCK_REAL(NAME), __VA_ARGS__)

#define PENSTOCK_ASKED(NAME, REAL) (Asked{#NAME, sizeof(REAL), in, out, flags, __builtin_return_address(0)})

// The planners of a kind: basic, in 2 and 3 dimensions, advanced and guru. BEFORE and AFTER are their arguments beside
// the lengths: what comes before the flags.
#define PENSTOCK_FFTW_BASIC(NAME, PLAN, REAL, IN, OUT, KIND, PARAMETERS, ARGUMENTS)                                   \
  PLAN NAME(int rank, const int* n, IN* in, OUT* out, PARAMETERS unsigned flags) {                                    \
    PENSTOCK_OR_PASS_ON(NAME, serve_many(PENSTOCK_ASKED(NAME, REAL), KIND, rank, n, 1, plain, plain, nullptr), rank,  \
                        n, in, out, ARGUMENTS flags);                                                                 \
  }                                                                                                                   \
  PLAN NAME##_2d(int n0, int n1, IN* in, OUT* out, PARAMETERS unsigned flags) {                                       \
    const std::array n{n0, n1};                                                                                       \
    PENSTOCK_OR_PASS_ON(NAME##_2d,                                                                                    \
                        serve_many(PENSTOCK_ASKED(NAME##_2d, REAL), KIND, 2, n.data(), 1, plain, plain, nullptr), n0, \
                        n1, in, out, ARGUMENTS flags);                                                                \
  }                                                                                                                   \
  PLAN NAME##_3d(int n0, int n1, int n2, IN* in, OUT* out, PARAMETERS unsigned flags) {                               \
    const std::array n{n0, n1, n2};                                                                                   \
    PENSTOCK_OR_PASS_ON(NAME##_3d,                                                                                    \
                        serve_many(PENSTOCK_ASKED(NAME##_3d, REAL), KIND, 3, n.data(), 1, plain, plain, nullptr), n0, \
                        n1, n2, in, out, ARGUMENTS flags);                                                            \
  }

#define PENSTOCK_FFTW_MANY(NAME, PLAN, REAL, IN, OUT, KIND, KINDS, PARAMETERS, ARGUMENTS)                              \
  PLAN NAME(int rank, const int* n, int howmany, IN* in, const int* inembed, int istride, int idist, OUT* out,         \
            const int* onembed, int ostride, int odist, PARAMETERS unsigned flags) {                                   \
    PENSTOCK_OR_PASS_ON(NAME,                                                                                          \
                        serve_many(PENSTOCK_ASKED(NAME, REAL), KIND, rank, n, howmany, Side{inembed, istride, idist},  \
                                   Side{onembed, ostride, odist}, KINDS),                                              \
                        rank, n, howmany, in, inembed, istride, idist, out, onembed, ostride, odist, ARGUMENTS flags); \
  }

#define PENSTOCK_FFTW_GURU(NAME, DIM, PLAN, REAL, IN, OUT, KIND, KINDS, PARAMETERS, ARGUMENTS)                       \
  PLAN NAME(int rank, const DIM* dims, int howmany_rank, const DIM* howmany_dims, IN* in, OUT* out,                  \
            PARAMETERS unsigned flags) {                                                                             \
    PENSTOCK_OR_PASS_ON(NAME,                                                                                        \
                        serve_guru(PENSTOCK_ASKED(NAME, REAL), KIND, rank, dims, howmany_rank, howmany_dims, KINDS), \
                        rank, dims, howmany_rank, howmany_dims, in, out, ARGUMENTS flags);                           \
  }

#define PENSTOCK_SIGN_PARAMETER int sign,
#define PENSTOCK_SIGN_ARGUMENT sign,
#define PENSTOCK_NOTHING

#define PENSTOCK_FFTW_ALONE(P, REAL, COMPLEX)                                                                         \
  PENSTOCK_FFTW_BASIC(P##_plan_dft, P##_plan, REAL, COMPLEX, COMPLEX, direction(sign), PENSTOCK_SIGN_PARAMETER,       \
                      PENSTOCK_SIGN_ARGUMENT)                                                                         \
  PENSTOCK_FFTW_MANY(P##_plan_many_dft, P##_plan, REAL, COMPLEX, COMPLEX, direction(sign), nullptr,                   \
                     PENSTOCK_SIGN_PARAMETER, PENSTOCK_SIGN_ARGUMENT)                                                 \
  PENSTOCK_FFTW_GURU(P##_plan_guru_dft, P##_iodim, P##_plan, REAL, COMPLEX, COMPLEX, direction(sign), nullptr,        \
                     PENSTOCK_SIGN_PARAMETER, PENSTOCK_SIGN_ARGUMENT)                                                 \
  PENSTOCK_FFTW_GURU(P##_plan_guru64_dft, P##_iodim64, P##_plan, REAL, COMPLEX, COMPLEX, direction(sign), nullptr,    \
                     PENSTOCK_SIGN_PARAMETER, PENSTOCK_SIGN_ARGUMENT)                                                 \
  PENSTOCK_FFTW_BASIC(P##_plan_dft_r2c, P##_plan, REAL, REAL, COMPLEX, Kind::real_to_complex, PENSTOCK_NOTHING,       \
                      PENSTOCK_NOTHING)                                                                               \
  PENSTOCK_FFTW_MANY(P##_plan_many_dft_r2c, P##_plan, REAL, REAL, COMPLEX, Kind::real_to_complex, nullptr,            \
                     PENSTOCK_NOTHING, PENSTOCK_NOTHING)                                                              \
  PENSTOCK_FFTW_GURU(P##_plan_guru_dft_r2c, P##_iodim, P##_plan, REAL, REAL, COMPLEX, Kind::real_to_complex, nullptr, \
                     PENSTOCK_NOTHING, PENSTOCK_NOTHING)                                                              \
  PENSTOCK_FFTW_GURU(P##_plan_guru64_dft_r2c, P##_iodim64, P##_plan, REAL, REAL, COMPLEX, Kind::real_to_complex,      \
                     nullptr, PENSTOCK_NOTHING, PENSTOCK_NOTHING)                                                     \
  PENSTOCK_FFTW_BASIC(P##_plan_dft_c2r, P##_plan, REAL, COMPLEX, REAL, Kind::complex_to_real, PENSTOCK_NOTHING,       \
                      PENSTOCK_NOTHING)                                                                               \
  PENSTOCK_FFTW_MANY(P##_plan_many_dft_c2r, P##_plan, REAL, COMPLEX, REAL, Kind::complex_to_real, nullptr,            \
                     PENSTOCK_NOTHING, PENSTOCK_NOTHING)                                                              \
  PENSTOCK_FFTW_GURU(P##_plan_guru_dft_c2r, P##_iodim, P##_plan, REAL, COMPLEX, REAL, Kind::complex_to_real, nullptr, \
                     PENSTOCK_NOTHING, PENSTOCK_NOTHING)                                                              \
  PENSTOCK_FFTW_GURU(P##_plan_guru64_dft_c2r, P##_iodim64, P##_plan, REAL, COMPLEX, REAL, Kind::complex_to_real,      \
                     nullptr, PENSTOCK_NOTHING, PENSTOCK_NOTHING)                                                     \
  P##_plan P##_plan_r2r(int rank, const int* n, REAL* in, REAL* out, const P##_r2r_kind* kind, unsigned flags) {      \
    PENSTOCK_OR_PASS_ON(                                                                                              \
        P##_plan_r2r,                                                                                                 \
        serve_many(PENSTOCK_ASKED(P##_plan_r2r, REAL), Kind::real_to_real, rank, n, 1, plain, plain, numbers(kind)),  \
        rank, n, in, out, kind, flags);                                                                               \
  }                                                                                                                   \
  P##_plan P##_plan_r2r_2d(int n0, int n1, REAL* in, REAL* out, P##_r2r_kind kind0, P##_r2r_kind kind1,               \
                           unsigned flags) {                                                                          \
    const std::array n{n0, n1};                                                                                       \
    const std::array kinds{kind0, kind1};                                                                             \
    PENSTOCK_OR_PASS_ON(P##_plan_r2r_2d,                                                                              \
                        serve_many(PENSTOCK_ASKED(P##_plan_r2r_2d, REAL), Kind::real_to_real, 2, n.data(), 1, plain,  \
                                   plain, numbers(kinds.data())),                                                     \
                        n0, n1, in, out, kind0, kind1, flags);                                                        \
  }                                                                                                                   \
  P##_plan P##_plan_r2r_3d(int n0, int n1, int n2, REAL* in, REAL* out, P##_r2r_kind kind0, P##_r2r_kind kind1,       \
                           P##_r2r_kind kind2, unsigned flags) {                                                      \
    const std::array n{n0, n1, n2};                                                                                   \
    const std::array kinds{kind0, kind1, kind2};                                                                      \
    PENSTOCK_OR_PASS_ON(P##_plan_r2r_3d,                                                                              \
                        serve_many(PENSTOCK_ASKED(P##_plan_r2r_3d, REAL), Kind::real_to_real, 3, n.data(), 1, plain,  \
                                   plain, numbers(kinds.data())),                                                     \
                        n0, n1, n2, in, out, kind0, kind1, kind2, flags);                                             \
  }                                                                                                                   \
  PENSTOCK_FFTW_MANY(P##_plan_many_r2r, P##_plan, REAL, REAL, REAL, Kind::real_to_real, numbers(kind),                \
                     const P##_r2r_kind* kind PENSTOCK_COMMA, kind PENSTOCK_COMMA)                                    \
  PENSTOCK_FFTW_GURU(P##_plan_guru_r2r, P##_iodim, P##_plan, REAL, REAL, REAL, Kind::real_to_real, numbers(kind),     \
                     const P##_r2r_kind* kind PENSTOCK_COMMA, kind PENSTOCK_COMMA)                                    \
  PENSTOCK_FFTW_GURU(P##_plan_guru64_r2r, P##_iodim64, P##_plan, REAL, REAL, REAL, Kind::real_to_real, numbers(kind), \
                     const P##_r2r_kind* kind PENSTOCK_COMMA, kind PENSTOCK_COMMA)

#define PENSTOCK_COMMA ,
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {
PENSTOCK_FFTW_ALONE(fftw, double, fftw_complex)
PENSTOCK_FFTW_ALONE(fftwf, float, fftwf_complex)
}
