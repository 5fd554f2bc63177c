// Transforms of pencils that lie anywhere in memory to anywhere in memory: movers that transform on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "penstock/base/processor.hpp"
#include "penstock/transform/device/device_transform.hpp"
#include "penstock/transform/kind.hpp"
#include "penstock/transform/pencils.hpp"

#pragma GCC visibility push(default)

namespace penstock::transform {

struct Variant;

/// How the pencils of a tile lie in memory.
enum class Spacing {
  adjacent,    ///< point k of all pencils is a contiguous row: the stride between pencils is the bytes of a number
  contiguous,  ///< the points of a pencil are contiguous: offsets[k] is k times the bytes of a number
  apart,       ///< at any offsets and strides
};

/// What a transform is planned for.
struct Shape {
  std::int64_t length = 0;  ///< points of a pencil; of the real one, where one side is complex and one real
  Kind kind = Kind::forward;
  Spacing source = Spacing::adjacent;
  Spacing destination = Spacing::adjacent;
  std::int64_t pencils = 0;  ///< of a full tile; fewer may be run
};

/// How a run uses memory.
struct Access {
  bool is_from_memory = false;  ///< whether the source is not in cache, so that the run prefetches it
  /// Whether non-temporal stores write those cache lines that are stored whole, for a destination that is not read
  /// again soon. Call mover::finish_streaming before another thread learns that the data are there.
  bool is_streaming = false;
  /// Pencils that this thread is likely to transform next, which the run prefetches; null: none. These pencils lie like
  /// those of the source; their number, `next_pencils`, may be smaller.
  const Pencils<const std::byte>* next = nullptr;
  std::int64_t next_pencils = 0;
};

/// How the factorisation of a length is chosen, where there are several.
enum class Effort {
  estimate,  ///< by estimated costs: always the same one
  measure,   ///< by timing, for some milliseconds, or by what an earlier timing has found
};

/// Discrete Fourier transforms of many pencils, unscaled but for the factor of a run. Any length: by radices up to 16,
/// and for other primes by the convolutions of Rader and Bluestein. Immutable; many threads may call `run` at once.
template <class Real>
class Transform {
 public:
  static constexpr std::int64_t max_length = std::int64_t{1} << 26;

  /// Plans a transform for the instruction set `set`, which must be usable. Throws Error where the shape has no points
  /// (redft00: fewer than 2), more than max_length points, or no pencils.
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
  /// The bytes of `scratch` that each run needs, aligned to 64 bytes.
  std::size_t scratch_bytes() const noexcept;
  /// Transforms `pencils` pencils, 1 to shape().pencils, and multiplies the result by `factor`. The destination may be
  /// the source, each point at the same address, where both are complex or both are real. Otherwise they may not
  /// overlap. Allocates nothing, takes no lock, makes no system call.
  void run(const Pencils<const std::byte>& source, const Pencils<std::byte>& destination, std::int64_t pencils,
           std::span<std::byte> scratch, Real factor = 1, Access access = {}) const noexcept;
  /// One line for people: the factorisation of the length and the instruction set.
  std::string describe() const;

 private:
  struct Plan;
  class Run;
  template <class>
  friend class Contest;
  Transform(const Shape& shape, InstructionSet set, const Variant& variant);
  std::unique_ptr<const Plan> plan_;
};

/// What Effort::measure has found in this process, as text, a line for each shape. `export_learned` returns it;
/// `import_learned` adds what another process has exported. The latter returns false, and changes nothing, where the
/// text is damaged. Thread-safe.
bool import_learned(const std::string& text);
std::string export_learned();

}  // namespace penstock::transform

#pragma GCC visibility pop
