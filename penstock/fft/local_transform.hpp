// The interface to libraries of local transforms, which transform pencils: Penstock's own, and FFTW.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/fft/fft.hpp"
#include "penstock/mover/mover.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::fft {

using transform::Spacing;

/// What a pencil is transformed into.
enum class RowKind {
  forward,
  backward,
  real_to_complex,
  complex_to_real,
  redft00,
  redft10,
  redft01,
  redft11,
  rodft00,
  rodft10,
  rodft01,
  rodft11,
  r2hc,
  hc2r,
  dht,
};

/// What there is to know about a kind but how it is transformed.
struct TransformTraits {
  RowKind inverse;
  bool has_real_input;
  bool has_real_output;
  int period_per_point;  ///< forward then backward multiplies by the period: this times (points + points_more)
  int points_more;
};
const TransformTraits& traits_of(RowKind kind) noexcept;

/// The kind of a transform between real numbers.
RowKind row_kind_of(RealKind kind) noexcept;

/// Pencils of `length` points (real points for the real kinds) as a local transform finds and leaves them. Strides are
/// given, in bytes from pencil to pencil, where the spacing is contiguous and they are the same in all runs.
struct PencilShape {
  RowKind kind = RowKind::forward;
  std::int64_t length = 0;
  std::int64_t pencils = 0;  ///< of a full tile; fewer may be run
  Spacing source = Spacing::contiguous;
  Spacing destination = Spacing::contiguous;
  std::int64_t source_stride = 0;
  std::int64_t destination_stride = 0;
  InstructionSet instruction_set = InstructionSet::portable;  ///< of our own
  /// The numbers of an element, beside each other, each transformed by itself. Strides and spacings are of elements.
  std::int64_t numbers = 1;
  /// Of a pencil's spectrum: those of the lowest wavenumbers, as many as a pencil of so many points has. 0: all.
  std::int64_t modes = 0;
  bool is_from_modes = false;               ///< the source is the spectrum
  mover::Code code = mover::Code::at_once;  ///< of what copies elements
};

/// A planned 1-D transform of pencils, unscaled but for a factor. Immutable; `run` may be called by many threads at
/// once.
class LocalTransform {
 public:
  virtual ~LocalTransform() = default;
  /// The memory that each run is lent, aligned to 64 bytes.
  virtual std::size_t scratch_bytes() const noexcept = 0;
  /// As transform::Transform::run. Pencils of a tile of the library's own may be destroyed by what reads them.
  virtual void run(const transform::Pencils<const std::byte>& source, const transform::Pencils<std::byte>& destination,
                   std::int64_t pencils, std::span<std::byte> scratch, double factor,
                   transform::Access access) const noexcept = 0;
};

/// A library of local transforms.
struct LocalLibrary {
  std::string name;
  /// Else contiguous pencils in a tile alone, aligned to 64 bytes, of given strides, of single numbers.
  bool takes_any_places = false;
  bool (*can)(RowKind kind) = nullptr;
  /// What runs of the shape are lent, by estimate; the precision by the bytes of a real number, 4 or 8.
  std::size_t (*scratch_bytes)(const PencilShape& shape, std::int64_t real_bytes) = nullptr;
  /// Plans. Throws Error where it has no plan for the shape.
  std::unique_ptr<LocalTransform> (*plan)(const PencilShape& shape, std::int64_t real_bytes, Effort effort) = nullptr;
  /// What planning by measuring has learned. Importing adds to it, or returns false and changes nothing.
  bool (*import_learned)(const std::string& text) = nullptr;
  std::string (*export_learned)() = nullptr;
};

/// All libraries of this build, those first that are taken where the user names none.
const std::vector<LocalLibrary>& local_libraries();

/// The library of that name, or where it is empty the first, that can transform pencils of the kind, whose elements are
/// so many numbers; or nothing.
const LocalLibrary* find_library(const std::string& name, RowKind kind, std::int64_t numbers = 1);

/// The libraries that there are, the second where the build has it: each in a file of its own.
LocalLibrary own_transforms();
LocalLibrary fftw_transforms();

}  // namespace penstock::fft
