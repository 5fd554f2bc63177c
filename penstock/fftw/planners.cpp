#include "penstock/fftw/planners.hpp"

#include <fftw3-mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fftw/communicators.hpp"
#include "penstock/fftw/plan.hpp"
#include "penstock/fftw/real.hpp"
#include "penstock/fftw/settings.hpp"
#include "penstock/fftw/tallies.hpp"

namespace penstock::fftw {
namespace {

using fft::Distribution;
using fft::RealKind;

constexpr int x = 0;
constexpr int y = 1;
constexpr int z = 2;

std::array<std::atomic<int>, 2> threads_asked_for{1, 1};  // by precision: single, double

int threads_of(std::int64_t real_bytes) {
  return threads_asked_for[real_bytes == sizeof(float) ? 0 : 1].load(std::memory_order_relaxed);
}

/// FFTW's number of a kind as ours; nothing for those that we do not have.
std::optional<RealKind> kind_of(int number) {
  switch (number) {
    case FFTW_REDFT00:
      return RealKind::redft00;
    case FFTW_REDFT01:
      return RealKind::redft01;
    case FFTW_REDFT10:
      return RealKind::redft10;
    case FFTW_REDFT11:
      return RealKind::redft11;
    case FFTW_RODFT00:
      return RealKind::rodft00;
    case FFTW_RODFT01:
      return RealKind::rodft01;
    case FFTW_RODFT10:
      return RealKind::rodft10;
    case FFTW_RODFT11:
      return RealKind::rodft11;
    case FFTW_R2HC:
      return RealKind::r2hc;
    case FFTW_HC2R:
      return RealKind::hc2r;
    case FFTW_DHT:
      return RealKind::dht;
    default:
      return std::nullopt;
  }
}

/// A request without its parts.
Request begin_request(const Asked& asked, Kind kind) {
  Request request{.function = std::string(asked.function), .real_bytes = asked.real_bytes};
  request.is_backward = kind == Kind::complex_backward || kind == Kind::complex_to_real;
  request.type = kind == Kind::real_to_real                                       ? fft::Type::r2r
                 : kind == Kind::real_to_complex || kind == Kind::complex_to_real ? fft::Type::r2c
                                                                                  : fft::Type::c2c;
  request.threads = threads_of(asked.real_bytes);
  request.may_measure = (asked.flags & FFTW_ESTIMATE) == 0;
  return request;
}

/// The direction of ours that a dimension of FFTW's is, which counts from the slowest on: the last is x. So a transform
/// in two dimensions is one plane, whose pencils are transformed together.
int direction_of(std::size_t dimension, std::size_t rank) {
  return static_cast<int>(rank - 1 - dimension);
}

/// Why a transform of `n` points along a direction cannot be ours; or nothing. Settles the size and the kind, of which
/// `real_kind` is FFTW's number; nullptr where numbers are complex.
std::string_view settle(Request& request, int direction, std::ptrdiff_t n, const int* real_kind) {
  const auto d = static_cast<std::size_t>(direction);
  if (n < 1 || n > std::numeric_limits<int>::max()) {
    return "a length that is none";
  }
  request.size[d] = n;
  request.along[d] = true;
  if (request.type == fft::Type::r2r) {
    request.kinds[d] = kind_of(*real_kind);
    if (!request.kinds[d]) {
      return "a kind that is none";
    }
    if (request.kinds[d] == RealKind::redft00 && n < 2) {
      return "redft00 of one point";
    }
  }
  return {};
}

/// Hands a plan out, or tells why not.
template <class Make>
void* hand_out_or_tell(const Asked& asked, Request request, bool is_over_ranks, const Make& make) {
  try {
    auto served = std::make_unique<ServedPlan>();
    served->plan = make(request);
    served->request = std::move(request);
    served->is_over_ranks = is_over_ranks;
    served->in = asked.in;
    served->out = asked.out;
    count_served(asked.function);
    return hand_out(std::move(served));
  } catch (const std::exception& error) {
    count_passed_on(asked.function, error.what());
    return nullptr;
  }
}

/// Whether nothing of ours is asked for: it is switched off, FFTW calls itself, or wisdom is wanted.
bool is_fftws(const Asked& asked) {
  return mode() == Mode::off || PassingOn::is_under_way() || (asked.flags & FFTW_WISDOM_ONLY) != 0 ||
         is_called_by_fftw(asked.return_address);
}

void* tell(const Asked& asked, std::string_view why) {
  count_passed_on(asked.function, why);
  return nullptr;
}

/// The range of indices that a rank has of blocks.
fft::Range range_of(std::int64_t n, std::int64_t block, int ranks, int rank) {
  const std::int64_t length = block > 0 ? block : divide_up(n, std::int64_t{ranks});
  const std::int64_t lower = std::min(n, length * rank);
  return {lower, std::min(n, lower + length) - lower};
}

/// A slab of FFTW's: cut along its first dimension, or, transposed, along the second, which is then the slowest.
/// `range_of_rank` gives the range of a rank, of a number of indices.
template <class RangeOfRank>
Distribution slab_of(const fft::Extents& points, std::size_t rank, bool is_transposed,
                     const RangeOfRank& range_of_rank) {
  const auto cut = static_cast<std::size_t>(direction_of(is_transposed ? 1 : 0, rank));
  const fft::Range range = range_of_rank(points[cut]);
  Distribution part{.box = {{}, points}};
  part.box.lower[cut] = range.lower;
  part.box.extent[cut] = range.extent;
  if (is_transposed) {
    part.order = rank == 2 ? std::array{z, x, y} : std::array{y, z, x};
  }
  return part;
}

}  // namespace

void set_threads(std::int64_t real_bytes, int threads) noexcept {
  threads_asked_for[real_bytes == sizeof(float) ? 0 : 1].store(std::max(threads, 1), std::memory_order_relaxed);
}

void* serve(const Asked& asked, const AskedOfRanks& transform) {
  if (is_fftws(asked)) {
    return nullptr;
  }
  const std::size_t rank = transform.n.size();
  if (rank != 2 && rank != 3) {
    return tell(asked, "neither 2 nor 3 dimensions");
  }
  if (transform.tuples < 1 || transform.tuples > std::numeric_limits<int>::max()) {
    return tell(asked, "a number of tuples that is none");
  }
  if (transform.in_block < 0 || transform.out_block < 0) {
    return tell(asked, "blocks that are none");
  }
  if ((asked.flags & (FFTW_MPI_SCRAMBLED_IN | FFTW_MPI_SCRAMBLED_OUT)) != 0) {
    return tell(asked, "scrambled");
  }
  Request request = begin_request(asked, transform.kind);
  for (std::size_t i = 0; i < rank; ++i) {
    const int* const kind = transform.kinds != nullptr ? transform.kinds + i : nullptr;
    if (const auto why = settle(request, direction_of(i, rank), transform.n[i], kind); !why.empty()) {
      return tell(asked, why);
    }
  }
  const bool is_in_transposed = (asked.flags & FFTW_MPI_TRANSPOSED_IN) != 0;
  const bool is_out_transposed = (asked.flags & FFTW_MPI_TRANSPOSED_OUT) != 0;
  const bool is_space_transposed = request.is_backward ? is_out_transposed : is_in_transposed;
  if (request.type == fft::Type::r2c && is_space_transposed) {
    return tell(asked, "real numbers that are transposed");
  }
  int ranks = 0;
  int mine = 0;
  MPI_Comm_size(transform.communicator, &ranks);
  MPI_Comm_rank(transform.communicator, &mine);
  request.tuples = static_cast<int>(transform.tuples);
  // What is local in the slabs of points comes first; real numbers become complex along x.
  request.sequence = !is_space_transposed ? std::array{x, y, z} : rank == 2 ? std::array{y, x, z} : std::array{x, z, y};
  fft::Options described{.size = request.size, .type = request.type, .kinds = request.kinds, .along = request.along};
  described.sequence = request.sequence;
  const fft::Extents modes = fft::spectrum_points(described);
  const auto slab = [&](bool is_input, bool is_transposed) {
    const bool is_space = is_input != request.is_backward;
    const fft::Extents& points = is_space ? request.size : modes;
    const std::ptrdiff_t block = is_input ? transform.in_block : transform.out_block;
    Distribution part =
        slab_of(points, rank, is_transposed, [&](std::int64_t n) { return range_of(n, block, ranks, mine); });
    if (is_space && request.type == fft::Type::r2c) {
      part.row_pitch = 2 * modes[x] * transform.tuples;
    }
    return part;
  };
  request.in = slab(true, is_in_transposed);
  request.out = slab(false, is_out_transposed);
  return hand_out_or_tell(asked, std::move(request), true,
                          [&](const Request& settled) { return plan_over(transform.communicator, settled); });
}

void* serve_transposition(const Asked& asked, std::ptrdiff_t n0, std::ptrdiff_t n1, std::ptrdiff_t tuples,
                          std::ptrdiff_t block0, std::ptrdiff_t block1, MPI_Comm communicator) {
  if (is_fftws(asked)) {
    return nullptr;
  }
  if (n0 < 1 || n1 < 1 || block0 < 0 || block1 < 0 || tuples < 1 || tuples > std::numeric_limits<int>::max()) {
    return tell(asked, "a length that is none");
  }
  int ranks = 0;
  int mine = 0;
  MPI_Comm_size(communicator, &ranks);
  MPI_Comm_rank(communicator, &mine);
  Request request = begin_request(asked, Kind::real_to_real);
  request.size = {n1, 1, n0};
  request.tuples = static_cast<int>(tuples);
  const fft::Range rows = range_of(n0, block0, ranks, mine);
  const fft::Range columns = range_of(n1, block1, ranks, mine);
  const std::array<int, 3> by_rows{z, y, x};
  const std::array<int, 3> by_columns{x, y, z};
  // The flags tell that the rank's own part is transposed.
  request.in = {.box = {{0, 0, rows.lower}, {n1, 1, rows.extent}},
                .order = (asked.flags & FFTW_MPI_TRANSPOSED_IN) != 0 ? by_columns : by_rows};
  request.out = {.box = {{columns.lower, 0, 0}, {columns.extent, 1, n0}},
                 .order = (asked.flags & FFTW_MPI_TRANSPOSED_OUT) != 0 ? by_rows : by_columns};
  return hand_out_or_tell(asked, std::move(request), true,
                          [&](const Request& settled) { return plan_over(communicator, settled); });
}

namespace {

/// A dimension of an array in one process, and what FFTW does along it.
struct Axis {
  Dimension dimension;
  bool is_transformed = false;
  bool is_last = false;            ///< of those that are transformed: real numbers become complex along it
  const int* real_kind = nullptr;  ///< FFTW's number
};

bool is_beside_each_other(const Axis& axis) {
  return !axis.is_transformed && axis.dimension.in_stride == 1 && axis.dimension.out_stride == 1;
}

/// The dimensions of the arrays, those of repetition included: two of these are one where they lie as one.
std::vector<Axis> axes_of(const AskedAlone& transform) {
  std::vector<Axis> axes;
  for (const Dimension& repeated : transform.repeated) {
    if (repeated.n != 1) {
      axes.push_back({repeated});
    }
  }
  const auto follows = [](const Axis& outer, const Axis& inner) {
    return outer.dimension.in_stride == inner.dimension.n * inner.dimension.in_stride &&
           outer.dimension.out_stride == inner.dimension.n * inner.dimension.out_stride;
  };
  for (auto inner = axes.begin(); inner != axes.end();) {
    const auto outer = std::ranges::find_if(axes, [&](const Axis& axis) { return follows(axis, *inner); });
    if (outer == axes.end() || outer == inner) {
      ++inner;
      continue;
    }
    inner->dimension.n *= outer->dimension.n;
    axes.erase(outer);
    inner = axes.begin();
  }
  for (std::size_t i = 0; i < transform.dimensions.size(); ++i) {
    axes.push_back({transform.dimensions[i], true, i + 1 == transform.dimensions.size(),
                    transform.kinds != nullptr ? transform.kinds + i : nullptr});
  }
  return axes;
}

/// Takes out of `axes` those that are no direction of a field: numbers beside each other, and fields one after the
/// other. False where more than three directions are left.
bool take_repetitions(std::vector<Axis>& axes, Request& request) {
  // What fills no vector is transformed as one number with several parts.
  constexpr std::ptrdiff_t few = 8;
  constexpr std::size_t directions = 3;
  const auto beside = std::ranges::find_if(axes, is_beside_each_other);
  if (beside != axes.end() && (axes.size() > directions || beside->dimension.n < few)) {
    request.tuples = static_cast<int>(beside->dimension.n);
    axes.erase(beside);
  }
  const auto slowest = std::ranges::max_element(axes, {}, [](const Axis& axis) {
    return axis.is_transformed ? std::numeric_limits<std::ptrdiff_t>::min() : axis.dimension.in_stride;
  });
  if (axes.size() > directions && !slowest->is_transformed) {
    request.repetitions = slowest->dimension.n;
    request.in_distance = slowest->dimension.in_stride;
    request.out_distance = slowest->dimension.out_stride;
    axes.erase(slowest);
  }
  return axes.size() <= directions;
}

/// An array whose dimensions lie in any order, with one of them contiguous, as a part; nothing where it is another one.
/// `tuples` numbers lie beside each other; `axes` are its directions, x first.
template <class Stride>
std::optional<Distribution> part_alone(const fft::Extents& points, std::span<const Axis> axes, std::ptrdiff_t tuples,
                                       const Stride& stride) {
  // Of one index there is no stride: it goes with the slowest.
  constexpr std::ptrdiff_t slowest = std::numeric_limits<std::ptrdiff_t>::max();
  std::array<std::ptrdiff_t, 3> strides{slowest, slowest, slowest};
  for (std::size_t d = 0; d < axes.size(); ++d) {
    strides[d] = points[d] > 1 ? stride(axes[d].dimension) : slowest;
  }
  Distribution part{.box = {{}, points}};
  std::ranges::stable_sort(part.order, std::greater<>(), [&](int d) { return strides[static_cast<std::size_t>(d)]; });
  const auto [slow, middle, fast] = part.order;
  const auto length = [&](int d) { return points[static_cast<std::size_t>(d)]; };
  const auto pitch = [&](int d, std::ptrdiff_t whole) {
    return length(d) > 1 ? strides[static_cast<std::size_t>(d)] : whole;
  };
  const std::ptrdiff_t row = pitch(middle, length(fast) * tuples);
  const std::ptrdiff_t plane = pitch(slow, row * length(middle));
  if (pitch(fast, tuples) != tuples || row < length(fast) * tuples || plane < row * length(middle)) {
    return std::nullopt;
  }
  part.row_pitch = row;
  part.plane_pitch = plane;
  return part;
}

/// Whether the arrays begin at different places and have bytes in common.
bool do_overlap_in_part(const Asked& asked, const Request& request) {
  const auto bytes_of = [&](Distribution part, std::int64_t distance, std::int64_t number_bytes) {
    part.components = request.tuples;
    return ((request.repetitions - 1) * distance + part.elements()) * number_bytes;
  };
  const auto* const in = static_cast<const std::byte*>(asked.in);
  const auto* const out = static_cast<const std::byte*>(asked.out);
  const std::less<> before;
  return in != out && before(in, out + bytes_of(request.out, request.out_distance, request.out_bytes())) &&
         before(out, in + bytes_of(request.in, request.in_distance, request.in_bytes()));
}

}  // namespace

void* serve(const Asked& asked, const AskedAlone& transform) {
  if (is_fftws(asked)) {
    return nullptr;
  }
  if (transform.dimensions.empty()) {
    return tell(asked, "more than 3 dimensions");
  }
  Request request = begin_request(asked, transform.kind);
  std::vector<Axis> axes = axes_of(transform);
  if (!std::ranges::all_of(axes, [](const Axis& axis) {
        return axis.dimension.n >= 1 && axis.dimension.n <= std::numeric_limits<int>::max();
      })) {
    return tell(asked, "a length that is none");
  }
  if (!take_repetitions(axes, request)) {
    return tell(asked, "more than 3 dimensions");
  }
  if (axes.size() < 2) {
    return tell(asked, "1 dimension alone");
  }
  // The directions are numbered as the input lies in memory.
  std::ranges::stable_sort(axes, {}, [](const Axis& axis) { return axis.dimension.in_stride; });
  double points = 1;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const Axis& axis = axes[d];
    request.size[d] = axis.dimension.n;
    points *= static_cast<double>(axis.dimension.n);
    if (axis.is_transformed) {
      if (const auto why = settle(request, static_cast<int>(d), axis.dimension.n, axis.real_kind); !why.empty()) {
        return tell(asked, why);
      }
    }
    if (axis.is_last) {
      std::ranges::stable_partition(request.sequence, [&](int direction) { return direction == static_cast<int>(d); });
    }
  }
  const double number_bytes = static_cast<double>(request.is_backward ? request.out_bytes() : request.in_bytes());
  if (!is_large_alone({.points = points,
                       .field_bytes = points * number_bytes * request.tuples,
                       .fields = request.repetitions,
                       .threads = request.threads,
                       .is_estimated = (asked.flags & FFTW_ESTIMATE) != 0})) {
    return tell(asked, "a small field");
  }
  if (asked.in == nullptr || asked.out == nullptr) {
    return tell(asked, "no array");
  }
  if (request.repetitions > 1 && asked.in == asked.out &&
      request.in_distance * request.in_bytes() != request.out_distance * request.out_bytes()) {
    return tell(asked, "fields in place, at other distances");
  }
  fft::Options described{.size = request.size, .type = request.type, .kinds = request.kinds, .along = request.along};
  described.sequence = request.sequence;
  const fft::Extents modes = fft::spectrum_points(described);
  const auto in = part_alone(request.is_backward ? modes : request.size, axes, request.tuples,
                             [](const Dimension& dimension) { return dimension.in_stride; });
  const auto out = part_alone(request.is_backward ? request.size : modes, axes, request.tuples,
                              [](const Dimension& dimension) { return dimension.out_stride; });
  if (!in || !out) {
    return tell(asked, "strides");
  }
  request.in = *in;
  request.out = *out;
  if (do_overlap_in_part(asked, request)) {
    return tell(asked, "arrays that overlap");
  }
  return hand_out_or_tell(asked, std::move(request), false, plan_alone);
}

}  // namespace penstock::fftw
