// Calls FFTW's interface as a program does that is linked with libpenstock-fftw before FFTW, and FFTW's own functions
// beside it: over MPI and in one process, drawn at random. How many is read from PENSTOCK_TEST_PLANS, the first seed
// from PENSTOCK_TEST_SEED.
#include <dlfcn.h>
#include <fftw3-mpi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

extern "C" {
// Names of FFTW's for Fortran, which no header declares.
void dfftw_execute_(fftw_plan*);
void dfftw_execute_dft_(fftw_plan*, fftw_complex*, fftw_complex*);
void dfftw_execute__(fftw_plan*);
void dfftw_plan_dft_3d_(fftw_plan*, const int*, const int*, const int*, fftw_complex*, fftw_complex*, const int*,
                        const int*);
}

namespace {

int rank_of_world = 0;
int ranks_of_world = 1;
int failures = 0;
std::string seed_text;  // of the problem at hand

void expect(bool is_right, const std::string& what) {
  if (!is_right) {
    std::fprintf(stderr, "rank %d: %s: %s\n", rank_of_world, seed_text.c_str(), what.c_str());
    ++failures;
  }
}

/// FFTW's own function of that name, which this program's own calls do not reach.
template <class Function>
Function* real(const char* name) {
  static const std::array<void*, 4> libraries{dlopen("libfftw3.so.3", RTLD_LAZY), dlopen("libfftw3f.so.3", RTLD_LAZY),
                                              dlopen("libfftw3_mpi.so.3", RTLD_LAZY),
                                              dlopen("libfftw3f_mpi.so.3", RTLD_LAZY)};
  for (void* const library : libraries) {
    if (library != nullptr) {
      if (void* const found = dlsym(library, name)) {
        return reinterpret_cast<Function*>(found);
      }
    }
  }
  std::fprintf(stderr, "no %s\n", name);
  std::abort();
}

/// The functions of one precision: FFTW's own, or those that a program calls.
template <class Real>
struct Api;

#define PENSTOCK_TEST_API(P, REAL)                                                                         \
  template <>                                                                                              \
  struct Api<REAL> {                                                                                       \
    using Plan = P##_plan;                                                                                 \
    using Complex = P##_complex;                                                                           \
    using Kind = P##_r2r_kind;                                                                             \
    using Dimension = P##_iodim;                                                                           \
    bool is_real;                                                                                          \
    template <class Function>                                                                              \
    Function* choose(Function* ours, const char* name) const {                                             \
      return is_real ? real<Function>(name) : ours;                                                        \
    }                                                                                                      \
    auto mpi_dft() const { return choose(&P##_mpi_plan_many_dft, #P "_mpi_plan_many_dft"); }               \
    auto mpi_r2c() const { return choose(&P##_mpi_plan_many_dft_r2c, #P "_mpi_plan_many_dft_r2c"); }       \
    auto mpi_c2r() const { return choose(&P##_mpi_plan_many_dft_c2r, #P "_mpi_plan_many_dft_c2r"); }       \
    auto mpi_r2r() const { return choose(&P##_mpi_plan_many_r2r, #P "_mpi_plan_many_r2r"); }               \
    auto transpose() const { return choose(&P##_mpi_plan_many_transpose, #P "_mpi_plan_many_transpose"); } \
    auto dft() const { return choose(&P##_plan_many_dft, #P "_plan_many_dft"); }                           \
    auto r2c() const { return choose(&P##_plan_many_dft_r2c, #P "_plan_many_dft_r2c"); }                   \
    auto c2r() const { return choose(&P##_plan_many_dft_c2r, #P "_plan_many_dft_c2r"); }                   \
    auto r2r() const { return choose(&P##_plan_many_r2r, #P "_plan_many_r2r"); }                           \
    auto guru_dft() const { return choose(&P##_plan_guru_dft, #P "_plan_guru_dft"); }                      \
    auto guru_r2c() const { return choose(&P##_plan_guru_dft_r2c, #P "_plan_guru_dft_r2c"); }              \
    auto execute() const { return choose(&P##_execute, #P "_execute"); }                                   \
    auto destroy() const { return choose(&P##_destroy_plan, #P "_destroy_plan"); }                         \
  };
PENSTOCK_TEST_API(fftw, double)
PENSTOCK_TEST_API(fftwf, float)

/// How many of `n` indices a rank has of FFTW's blocks; 0: the default ones.
ptrdiff_t extent_of(ptrdiff_t n, ptrdiff_t block, MPI_Comm comm) {
  int ranks = 0;
  int mine = 0;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &mine);
  const ptrdiff_t length = block > 0 ? block : (n + ranks - 1) / ranks;
  return std::clamp<ptrdiff_t>(n - mine * length, 0, length);
}

class Draws {
 public:
  explicit Draws(unsigned seed) : random_(seed) {}
  ptrdiff_t number(ptrdiff_t least, ptrdiff_t most) {
    return least + static_cast<ptrdiff_t>(random_() % static_cast<unsigned long>(most - least + 1));
  }
  bool coin() { return number(0, 1) == 1; }

 private:
  std::mt19937 random_;
};

template <class Real>
std::vector<Real> noise(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Real> numbers(count);
  for (Real& number : numbers) {
    number = static_cast<Real>(random() % 2000) / 1000 - 1;
  }
  return numbers;
}

/// Runs a problem by FFTW and by what a program calls, on arrays of `count` numbers, in place or not; complex numbers
/// are then aligned to their halves alone. Expects the same first `result_count` numbers.
template <class Real, class Make>
void compare(std::size_t count, std::size_t result_count, bool is_in_place, double tolerance, const Make& make) {
  std::array<std::vector<Real>, 2> results;
  for (const bool is_real : {false, true}) {
    const Api<Real> api{is_real};
    const auto seed = static_cast<unsigned>(7 + rank_of_world);
    std::vector<Real> in = noise<Real>(count + 1, seed);
    std::vector<Real> out(is_in_place ? 0 : count + 1, Real{9});
    Real* const to = (is_in_place ? in.data() : out.data()) + 1;
    const auto plan = make(api, in.data() + 1, to);
    expect(plan != nullptr, is_real ? "FFTW has no plan" : "no plan");
    if (plan == nullptr) {
      return;
    }
    // Planning may have overwritten the arrays.
    std::ranges::copy(noise<Real>(count + 1, seed), in.begin());
    api.execute()(plan);
    api.destroy()(plan);
    results[is_real ? 1 : 0].assign(to, to + result_count);
  }
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < result_count; ++i) {
    difference = std::max(difference, static_cast<double>(std::abs(results[0][i] - results[1][i])));
    size = std::max(size, static_cast<double>(std::abs(results[1][i])));
  }
  expect(difference <= tolerance * std::max(size, 1.0), fmt::format("differs by {} of {}", difference, size));
}

/// Rows of real numbers that are padded have numbers between them that nobody writes: those of the result alone.
template <class Real>
void draw_over_ranks(unsigned seed, MPI_Comm comm) {
  using Complex = typename Api<Real>::Complex;
  using Kind = typename Api<Real>::Kind;
  Draws draws(seed);
  const int rank = static_cast<int>(draws.number(2, 3));
  std::vector<ptrdiff_t> n;
  for (int i = 0; i < rank; ++i) {
    n.push_back(draws.number(2, 13));
  }
  const ptrdiff_t tuples = draws.coin() ? 1 : draws.number(1, 4);
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  const auto draw_block = [&](ptrdiff_t length) {
    return draws.coin() ? 0 : (length + ranks - 1) / ranks + draws.number(0, 2);
  };
  const int type = static_cast<int>(draws.number(0, 4));
  const bool is_r2c = type == 2;
  const bool is_c2r = type == 3;
  bool is_in_transposed = draws.number(0, 2) == 0 && !is_r2c;
  bool is_out_transposed = draws.number(0, 2) == 0 && !is_c2r;
  const ptrdiff_t b0 = draw_block(n[0]);
  std::vector<ptrdiff_t> complex_n = n;
  if (is_r2c || is_c2r) {
    complex_n.back() = n.back() / 2 + 1;
  }
  const ptrdiff_t b1 = draw_block(complex_n[1]);
  // FFTW's blocks are of what is cut: the first dimension, or where it is transposed the second.
  const ptrdiff_t in_block = is_in_transposed ? b1 : b0;
  const ptrdiff_t out_block = is_out_transposed ? b1 : b0;
  const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED | (is_in_transposed ? FFTW_MPI_TRANSPOSED_IN : 0U) |
                         (is_out_transposed ? FFTW_MPI_TRANSPOSED_OUT : 0U);
  const bool is_in_place = draws.coin();
  const bool is_r2r = type == 4;
  ptrdiff_t all = 2 * tuples;
  for (const ptrdiff_t length : n) {
    all *= length + 2;
  }
  const auto count = static_cast<std::size_t>(all);  // more than any rank needs
  const ptrdiff_t rows_of_rank = extent_of(n[0], b0, comm);
  const ptrdiff_t cut = is_out_transposed ? extent_of(complex_n[1], b1, comm) : rows_of_rank;
  ptrdiff_t others = tuples;
  for (int i = 0; i < rank; ++i) {
    const int slowest = is_out_transposed ? 1 : 0;
    others *= i == slowest ? 1 : complex_n[static_cast<std::size_t>(i)];
  }
  const auto result_count = static_cast<std::size_t>(cut * others * (is_r2r ? 1 : 2));
  std::vector<Kind> kinds;
  for (int i = 0; i < rank; ++i) {
    kinds.push_back(static_cast<Kind>(draws.number(FFTW_R2HC, FFTW_RODFT11)));
  }
  seed_text =
      fmt::format("PENSTOCK_TEST_SEED={} over {} ranks: type {}, {} x{}, blocks {} {}, flags {:x}, {}", seed, ranks,
                  type, fmt::join(n, "x"), tuples, in_block, out_block, flags, is_in_place ? "in place" : "");
  const double tolerance = sizeof(Real) == 8 ? 1e-13 : 1e-4;
  if (is_c2r) {
    // The real part of the padding is left as it was: compared are the rows without it.
    std::array<std::vector<Real>, 2> results;
    for (const bool is_real : {false, true}) {
      const Api<Real> api{is_real};
      // A spectrum of real numbers, by FFTW itself.
      std::vector<Real> field = noise<Real>(count, static_cast<unsigned>(7 + rank_of_world));
      std::vector<Real> spectrum(count);
      const Api<Real> fftw{true};
      const auto there = fftw.mpi_r2c()(rank, n.data(), tuples, b0, is_in_transposed ? b1 : b0, field.data(),
                                        reinterpret_cast<Complex*>(spectrum.data()), comm,
                                        FFTW_ESTIMATE | (is_in_transposed ? FFTW_MPI_TRANSPOSED_OUT : 0U));
      std::ranges::copy(noise<Real>(count, static_cast<unsigned>(7 + rank_of_world)), field.begin());
      fftw.execute()(there);
      fftw.destroy()(there);
      std::vector<Real> out(count, Real{9});
      Real* const to = is_in_place ? spectrum.data() : out.data();
      const std::vector<Real> kept = spectrum;
      const auto back = api.mpi_c2r()(rank, n.data(), tuples, in_block, b0, reinterpret_cast<Complex*>(spectrum.data()),
                                      to, comm, flags);
      expect(back != nullptr, "no plan");
      std::ranges::copy(kept, spectrum.begin());
      api.execute()(back);
      api.destroy()(back);
      const ptrdiff_t row = 2 * complex_n.back() * tuples;
      const ptrdiff_t rows = rows_of_rank * (rank == 3 ? n[1] : 1);
      for (ptrdiff_t i = 0; i < rows; ++i) {
        results[is_real ? 1 : 0].insert(results[is_real ? 1 : 0].end(), to + i * row, to + i * row + n.back() * tuples);
      }
    }
    double difference = 0;
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      difference = std::max(difference, static_cast<double>(std::abs(results[0][i] - results[1][i])));
    }
    const double points = static_cast<double>(n[0] * n[1] * (rank == 3 ? n[2] : 1));
    expect(difference <= tolerance * points, fmt::format("c2r differs by {}", difference));
    return;
  }
  compare<Real>(count, result_count, is_in_place, tolerance, [&](const Api<Real>& api, Real* in, Real* out) {
    auto* const complex_in = reinterpret_cast<Complex*>(in);
    auto* const complex_out = reinterpret_cast<Complex*>(out);
    if (is_r2c) {
      return api.mpi_r2c()(rank, n.data(), tuples, b0, out_block, in, complex_out, comm, flags);
    }
    if (is_r2r) {
      return api.mpi_r2r()(rank, n.data(), tuples, in_block, out_block, in, out, comm, kinds.data(), flags);
    }
    return api.mpi_dft()(rank, n.data(), tuples, in_block, out_block, complex_in, complex_out, comm,
                         type == 0 ? FFTW_FORWARD : FFTW_BACKWARD, flags);
  });
}

template <class Real>
void draw_transposition(unsigned seed, MPI_Comm comm) {
  Draws draws(seed);
  const ptrdiff_t n0 = draws.number(1, 20);
  const ptrdiff_t n1 = draws.number(1, 20);
  const ptrdiff_t tuples = draws.number(1, 5);
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  const ptrdiff_t b0 = draws.coin() ? 0 : (n0 + ranks - 1) / ranks + draws.number(0, 2);
  const ptrdiff_t b1 = draws.coin() ? 0 : (n1 + ranks - 1) / ranks + draws.number(0, 2);
  const unsigned flags =
      FFTW_ESTIMATE | (draws.coin() ? FFTW_MPI_TRANSPOSED_IN : 0U) | (draws.coin() ? FFTW_MPI_TRANSPOSED_OUT : 0U);
  const bool is_in_place = draws.coin();
  seed_text = fmt::format("PENSTOCK_TEST_SEED={} over {} ranks: {}x{} x{} transposed, blocks {} {}, flags {:x}, {}",
                          seed, ranks, n0, n1, tuples, b0, b1, flags, is_in_place ? "in place" : "");
  compare<Real>(static_cast<std::size_t>((n0 + 2) * (n1 + 2) * tuples),
                static_cast<std::size_t>(extent_of(n1, b1, comm) * n0 * tuples), is_in_place, 0,
                [&](const Api<Real>& api, Real* in, Real* out) {
                  return api.transpose()(n0, n1, tuples, b0, b1, in, out, comm, flags);
                });
}

template <class Real>
void draw_alone(unsigned seed) {
  using Complex = typename Api<Real>::Complex;
  using Kind = typename Api<Real>::Kind;
  Draws draws(seed);
  const int rank = static_cast<int>(draws.number(1, 3));
  std::vector<int> n;
  for (int i = 0; i < rank; ++i) {
    n.push_back(static_cast<int>(draws.number(2, 12)));
  }
  const int type = static_cast<int>(draws.number(0, 3));
  const bool is_in_place = draws.coin();
  const int fields = static_cast<int>(draws.number(1, 3));
  const bool is_interleaved = draws.coin();
  // Arrays that are longer than what is transformed, or the lengths themselves.
  std::vector<int> in_lengths = n;
  std::vector<int> out_lengths = n;
  out_lengths.back() = type == 2 ? n.back() / 2 + 1 : n.back();
  if (type == 2 && is_in_place) {
    in_lengths.back() = 2 * out_lengths.back();
  }
  const bool is_embedded = draws.coin() && !is_in_place;
  if (is_embedded) {
    for (std::size_t i = 1; i < n.size(); ++i) {
      in_lengths[i] += static_cast<int>(draws.number(0, 3));
      out_lengths[i] += static_cast<int>(draws.number(0, 3));
    }
  }
  const auto product = [](const std::vector<int>& lengths) {
    std::ptrdiff_t all = 1;
    for (const int length : lengths) {
      all *= length;
    }
    return static_cast<int>(all);
  };
  const int stride = is_interleaved ? fields : 1;
  int in_distance = is_interleaved ? 1 : product(in_lengths);
  int out_distance = is_interleaved ? 1 : product(out_lengths);
  if (is_in_place && !is_interleaved && type == 2) {
    in_distance = 2 * out_distance;
  }
  const auto count =
      static_cast<std::size_t>(4 * fields * std::max(product(in_lengths), 2 * product(out_lengths)) + 64);
  std::vector<Kind> kinds;
  for (int i = 0; i < rank; ++i) {
    kinds.push_back(static_cast<Kind>(draws.number(FFTW_R2HC, FFTW_RODFT11)));
  }
  seed_text = fmt::format("PENSTOCK_TEST_SEED={} alone: type {}, {} in {} out {} fields {}{}, {}", seed, type,
                          fmt::join(n, "x"), fmt::join(in_lengths, "x"), fmt::join(out_lengths, "x"), fields,
                          is_interleaved ? " interleaved" : "", is_in_place ? "in place" : "");
  const int* const in_embedded = is_embedded ? in_lengths.data() : nullptr;
  const int* const out_embedded = is_embedded ? out_lengths.data() : nullptr;
  // Where arrays are longer than what is transformed both leave the rest as it was.
  compare<Real>(count, count, is_in_place, sizeof(Real) == 8 ? 1e-13 : 1e-4,
                [&](const Api<Real>& api, Real* in, Real* out) {
                  auto* const complex_in = reinterpret_cast<Complex*>(in);
                  auto* const complex_out = reinterpret_cast<Complex*>(out);
                  if (type == 2) {
                    return api.r2c()(rank, n.data(), fields, in, in_embedded, stride, in_distance, complex_out,
                                     out_embedded, stride, out_distance, FFTW_ESTIMATE | FFTW_UNALIGNED);
                  }
                  if (type == 3) {
                    return api.r2r()(rank, n.data(), fields, in, in_embedded, stride, in_distance, out, out_embedded,
                                     stride, out_distance, kinds.data(), FFTW_ESTIMATE | FFTW_UNALIGNED);
                  }
                  return api.dft()(rank, n.data(), fields, complex_in, in_embedded, stride, in_distance, complex_out,
                                   out_embedded, stride, out_distance, type == 0 ? FFTW_FORWARD : FFTW_BACKWARD,
                                   FFTW_ESTIMATE | FFTW_UNALIGNED);
                });
}

/// Arrays whose dimensions, transformed or repeated, lie in orders of their own, with rows and planes that are padded.
template <class Real>
void draw_orders(unsigned seed) {
  using Complex = typename Api<Real>::Complex;
  Draws draws(seed);
  const bool is_real = draws.coin();
  const bool is_in_place = draws.coin();
  const auto rank = static_cast<std::size_t>(draws.number(1, 3));
  const auto repeated = static_cast<std::size_t>(draws.number(0, 2));
  std::vector<typename Api<Real>::Dimension> dimensions(rank + repeated);
  for (auto& dimension : dimensions) {
    dimension.n = static_cast<int>(draws.number(1, 12));
  }
  const auto half = [&](std::size_t i) { return i + 1 == rank && is_real ? dimensions[i].n / 2 + 1 : dimensions[i].n; };
  // Lays out one side and returns its numbers, in place with room for the other side as well.
  const auto lay_out = [&](int Api<Real>::Dimension::*stride, bool is_input) {
    std::vector<std::size_t> order(dimensions.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i-- > 1;) {
      std::swap(order[i], order[static_cast<std::size_t>(draws.number(0, static_cast<ptrdiff_t>(i)))]);
    }
    int numbers = 1;
    for (const std::size_t i : order) {
      dimensions[i].*stride = numbers;
      numbers *= (is_input ? dimensions[i].n : half(i)) + static_cast<int>(draws.number(0, 2));
    }
    return numbers;
  };
  const int in_numbers = lay_out(&Api<Real>::Dimension::is, true);
  const int out_numbers = lay_out(&Api<Real>::Dimension::os, false);
  const bool lies_alike = !is_real && is_in_place;
  if (lies_alike) {
    for (auto& dimension : dimensions) {
      dimension.os = dimension.is;
    }
  }
  seed_text = fmt::format("PENSTOCK_TEST_SEED={} orders, {} {}+{}, {}", seed, is_real ? "real" : "complex", rank,
                          repeated, lies_alike ? "in place" : "");
  const auto count = static_cast<std::size_t>(2 * std::max(in_numbers, out_numbers));
  compare<Real>(
      count, count, lies_alike, sizeof(Real) == 8 ? 1e-13 : 1e-4, [&](const Api<Real>& api, Real* in, Real* out) {
        auto* const complex_out = reinterpret_cast<Complex*>(out);
        constexpr unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED | FFTW_PRESERVE_INPUT;
        const auto* const others = dimensions.data() + rank;
        return is_real ? api.guru_r2c()(static_cast<int>(rank), dimensions.data(), static_cast<int>(repeated), others,
                                        in, complex_out, flags)
                       : api.guru_dft()(static_cast<int>(rank), dimensions.data(), static_cast<int>(repeated), others,
                                        reinterpret_cast<Complex*>(in), complex_out, FFTW_FORWARD, flags);
      });
}

bool is_ours(fftw_plan plan) {
  char* const text = fftw_sprint_plan(plan);
  const bool found = std::string(text).find("penstock") != std::string::npos;
  std::free(text);
  return found;
}

bool is_off() {
  const char* const asked = std::getenv("PENSTOCK_FFTW");
  return asked != nullptr && std::string(asked) == "off";
}

/// Ranks destroy plans at different times, others are made meanwhile, over a communicator that ends and another.
void outlive_communicators(MPI_Comm world) {
  seed_text = "plans and communicators";
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(world, rank_of_world % 2, 0, &half);
  std::array<ptrdiff_t, 2> local{};
  const auto needed = static_cast<std::size_t>(2 * fftw_mpi_local_size_3d(12, 10, 8, half, &local[0], &local[1]));
  std::vector<double> array(needed + 2, 1.0);
  auto* const numbers = reinterpret_cast<fftw_complex*>(array.data());
  const auto plan = [&] {
    return fftw_mpi_plan_dft_3d(12, 10, 8, numbers, numbers, half, FFTW_FORWARD, FFTW_ESTIMATE);
  };
  const fftw_plan first = plan();
  if (rank_of_world < 2) {
    fftw_destroy_plan(first);
  }
  const fftw_plan second = plan();
  fftw_execute(second);
  if (rank_of_world >= 2) {
    fftw_destroy_plan(first);
  }
  fftw_mpi_execute_dft(second, numbers, numbers);
  expect(is_ours(second) != is_off(), "a plan of the other one's");
  fftw_destroy_plan(second);
  MPI_Comm_free(&half);
}

void execute_from_fortran() {
  seed_text = "Fortran's names";
  std::vector<double> in(2 * 4 * 5 * 6, 1.0);
  std::vector<double> out(in.size());
  auto* const from = reinterpret_cast<fftw_complex*>(in.data());
  auto* const to = reinterpret_cast<fftw_complex*>(out.data());
  fftw_plan plan = nullptr;
  const int n0 = 6, n1 = 5, n2 = 4, sign = FFTW_FORWARD, flags = FFTW_ESTIMATE;
  dfftw_plan_dft_3d_(&plan, &n0, &n1, &n2, from, to, &sign, &flags);
  expect(is_ours(plan) != is_off(), "a plan of the other one's");
  dfftw_execute_(&plan);
  expect(std::abs(out[0] - 120) < 1e-12, "the mean of ones");
  std::ranges::fill(out, 0);
  dfftw_execute__(&plan);
  expect(std::abs(out[0] - 120) < 1e-12, "the mean of ones, by the name of another compiler");
  std::ranges::fill(out, 0);
  dfftw_execute_dft_(&plan, from, to);
  expect(std::abs(out[0] - 120) < 1e-12, "the mean of ones, in other arrays");
  fftw_destroy_plan(plan);
}

/// Ranks whose parts are empty cannot tell two plans apart; the others can.
void tell_plans_apart() {
  seed_text = "plans whose parts are empty alike";
  std::vector<fftw_plan> plans;
  std::vector<double> in(2 * 8 * 9 * 4, 1.0);
  std::vector<double> out(in.size());
  const std::array<ptrdiff_t, 3> n{8, 9, 4};
  for (const ptrdiff_t block : {4, 5, 4, 5}) {
    plans.push_back(fftw_mpi_plan_many_dft(3, n.data(), 1, std::max<ptrdiff_t>(block, 8 / ranks_of_world), 0,
                                           reinterpret_cast<fftw_complex*>(in.data()),
                                           reinterpret_cast<fftw_complex*>(out.data()), MPI_COMM_WORLD, FFTW_FORWARD,
                                           FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT));
    fftw_execute(plans.back());
  }
  std::ranges::for_each(plans, fftw_destroy_plan);
}

/// Whoever takes FFTW's planners from its library gives their plans to that library's functions.
void plan_by_handle() {
  seed_text = "planners by FFTW's own handle";
  std::vector<double> numbers(2 * 4 * 5 * 6, 1.0);
  auto* const array = reinterpret_cast<fftw_complex*>(numbers.data());
  const fftw_plan plan =
      real<decltype(fftw_plan_dft_3d)>("fftw_plan_dft_3d")(4, 5, 6, array, array, FFTW_FORWARD, FFTW_ESTIMATE);
  expect(!is_ours(plan), "a plan that FFTW's functions cannot take");
  real<decltype(fftw_execute)>("fftw_execute")(plan);
  expect(std::abs(numbers[0] - 120) < 1e-12, "the mean of ones");
  real<decltype(fftw_destroy_plan)>("fftw_destroy_plan")(plan);
}

/// Threads run one plan, and equal ones, at the same time.
void execute_on_threads() {
  seed_text = "threads";
  std::vector<std::vector<double>> arrays(4, std::vector<double>(2 * 16 * 16 * 16, 1.0));
  const auto numbers = [&](std::size_t i) { return reinterpret_cast<fftw_complex*>(arrays[i].data()); };
  const fftw_plan one = fftw_plan_dft_3d(16, 16, 16, numbers(0), numbers(0), FFTW_FORWARD, FFTW_ESTIMATE);
  const fftw_plan other = fftw_plan_dft_3d(16, 16, 16, numbers(1), numbers(1), FFTW_BACKWARD, FFTW_ESTIMATE);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        fftw_execute_dft(one, numbers(i), numbers(i));
        fftw_execute_dft(other, numbers(i), numbers(i));
        for (double& number : arrays[i]) {
          number /= 4096;
        }
      }
    });
  }
  std::ranges::for_each(threads, &std::thread::join);
  for (const std::vector<double>& array : arrays) {
    expect(std::ranges::all_of(array, [](double number) { return std::abs(number - 1) < 1e-12; }), "what comes back");
  }
  fftw_destroy_plan(one);
  fftw_destroy_plan(other);
}

unsigned number_from(const char* name, unsigned otherwise) {
  const char* const asked = std::getenv(name);
  return asked == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(asked, nullptr, 10));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  fftwf_mpi_init();
  real<void()>("fftw_mpi_init")();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_world);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_of_world);
  const unsigned first = number_from("PENSTOCK_TEST_SEED", 1);
  const unsigned plans = number_from("PENSTOCK_TEST_PLANS", 150);
  for (unsigned seed = first; seed < first + plans; ++seed) {
    draw_over_ranks<double>(seed, MPI_COMM_WORLD);
    draw_over_ranks<float>(seed, MPI_COMM_WORLD);
    draw_transposition<double>(seed, MPI_COMM_WORLD);
    draw_transposition<float>(seed, MPI_COMM_WORLD);
    draw_alone<double>(seed);
    draw_alone<float>(seed);
    draw_orders<double>(seed);
    draw_orders<float>(seed);
  }
  outlive_communicators(MPI_COMM_WORLD);
  tell_plans_apart();
  execute_from_fortran();
  plan_by_handle();
  execute_on_threads();
  MPI_Finalize();
  if (failures == 0 && rank_of_world == 0) {
    std::printf("all plans agree\n");
  }
  return failures == 0 ? 0 : 1;
}
