// Transforms of pencils that lie anywhere in memory to anywhere in memory: movers that transform on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "penstock/base/processor.hpp"
#include "penstock/transform/pencils.hpp"

namespace penstock::transform {

struct Variant;

/// What a pencil becomes. n is its length, x_j its points, X_k those of what it becomes.
enum class Kind {
  forward,          ///< X_k is the sum of x_j exp(-2 pi i j k / n)
  backward,         ///< the same with +2 pi i
  real_to_complex,  ///< the first n / 2 + 1 points of the forward transform of real points
  complex_to_real,  ///< the backward transform of n points, of which these are the first n / 2 + 1, where it is real
  // Sines and cosines under FFTW's names, unscaled as there: X_k is the sum over j, of real points from and to real
  // ones.
  redft00,  ///< x_0 + (-1)^k x_n-1 + 2 x_j cos(pi j k / (n - 1)) of the points between; n at least 2
  redft10,  ///< 2 x_j cos(pi (j + 1/2) k / n)
  redft01,  ///< x_0 + 2 x_j cos(pi j (k + 1/2) / n) of the others
  redft11,  ///< 2 x_j cos(pi (j + 1/2) (k + 1/2) / n)
  rodft00,  ///< 2 x_j sin(pi (j + 1) (k + 1) / (n + 1))
  rodft10,  ///< 2 x_j sin(pi (j + 1/2) (k + 1) / n)
  rodft01,  ///< (-1)^k x_n-1 + 2 x_j sin(pi (j + 1) (k + 1/2) / n) of the others
  rodft11,  ///< 2 x_j sin(pi (j + 1/2) (k + 1/2) / n)
};

/// How pencils lie beside one another.
enum class Spacing {
  adjacent,    ///< point k of all is a row: the stride from pencil to pencil is the bytes of a number
  contiguous,  ///< the points of a pencil follow one another: offsets[k] is k times the bytes of a number
  apart,       ///< at any strides
};

/// What is planned.
struct Shape {
  std::int64_t length = 0;  ///< points of a pencil; of the real one, where one side is complex
  Kind kind = Kind::forward;
  Spacing source = Spacing::adjacent;
  Spacing destination = Spacing::adjacent;
  std::int64_t pencils = 0;  ///< of a full tile; fewer may be run
};

/// How a run uses memory.
struct Access {
  bool is_from_memory = false;  ///< the source is not in cache: it is asked for ahead
  /// Whole lines of 64 bytes that are stored at once bypass the cache: the destination is not read again soon. Call
  /// mover::finish_streaming before another thread is told of them.
  bool is_streaming = false;
  /// What is likely to be transformed next by this thread, brought into the cache meanwhile: nothing, or pencils like
  /// those of the source, which may be fewer.
  const Pencils<const std::byte>* next = nullptr;
  std::int64_t next_pencils = 0;
};

/// How a length is taken apart, where there are several ways.
enum class Effort {
  estimate,  ///< as their costs are estimated: always the same way
  measure,   ///< as they are timed, for some milliseconds, or were before
};

/// Discrete Fourier transforms of many pencils, unscaled but for the factor of a run. Any length: radices up to 16,
/// other primes by the convolutions of Rader and Bluestein. Immutable; `run` may be called by many threads at once.
template <class Real>
class Transform {
 public:
  static constexpr std::int64_t max_length = std::int64_t{1} << 26;

  /// Plans for a usable set of instructions. Throws Error where the shape has no points (of redft00 fewer than 2), more
  /// than max_length, or no pencils.
  explicit Transform(const Shape& shape, InstructionSet set = best_instruction_set(), Effort effort = Effort::estimate);
  ~Transform();
  Transform(Transform&&) noexcept;
  Transform& operator=(Transform&&) noexcept;

  const Shape& shape() const noexcept;
  /// The points of a pencil in the source and in the destination, and the bytes of each.
  std::int64_t source_points() const noexcept;
  std::int64_t destination_points() const noexcept;
  std::int64_t source_number_bytes() const noexcept;
  std::int64_t destination_number_bytes() const noexcept;
  /// The memory that each run is lent, aligned to 64 bytes.
  std::size_t scratch_bytes() const noexcept;
  /// Transforms 1 to shape().pencils pencils and multiplies what is stored by `factor`. The destination may be the
  /// source where both are complex or both are real: each point at the same address in both. Otherwise they may not
  /// overlap. Allocates nothing, takes no lock, calls the system for nothing.
  void run(const Pencils<const std::byte>& source, const Pencils<std::byte>& destination, std::int64_t pencils,
           std::span<std::byte> scratch, Real factor = 1, Access access = {}) const noexcept;
  /// One line for people: how the length is taken apart, the set of instructions.
  std::string describe() const;

 private:
  struct Plan;
  class Run;
  template <class>
  friend class Contest;
  Transform(const Shape& shape, InstructionSet set, const Variant& variant);
  std::unique_ptr<const Plan> plan_;
};

/// What Effort::measure has found, a line for each shape, of the whole process. Thread-safe. `import_learned` adds what
/// another process has exported; it returns false, and changes nothing, where the text is damaged.
bool import_learned(const std::string& text);
std::string export_learned();

}  // namespace penstock::transform
