// What there is to know about kinds, our own transforms behind the joint, and the list of all libraries.
#include "penstock/fft/local_transform.hpp"

#include <array>
#include <utility>

#include "penstock/base/config.hpp"

namespace penstock::fft {
namespace {

transform::Shape shape_of(const PencilShape& shape) {
  return {.length = shape.length,
          .kind = static_cast<transform::Kind>(shape.kind),
          .source = shape.source,
          .destination = shape.destination,
          .pencils = shape.pencils};
}
static_assert(static_cast<int>(transform::Kind::forward) == static_cast<int>(RowKind::forward));
static_assert(static_cast<int>(transform::Kind::complex_to_real) == static_cast<int>(RowKind::complex_to_real));
static_assert(static_cast<int>(transform::Kind::redft00) == static_cast<int>(RowKind::redft00));
static_assert(static_cast<int>(transform::Kind::redft11) == static_cast<int>(RowKind::redft11));
static_assert(static_cast<int>(transform::Kind::rodft11) == static_cast<int>(RowKind::rodft11));
static_assert(static_cast<int>(transform::Kind::dht) == static_cast<int>(RowKind::dht));

template <class Real>
class OwnTransform final : public LocalTransform {
 public:
  OwnTransform(const PencilShape& shape, Effort effort)
      : transform_(shape_of(shape), shape.instruction_set,
                   effort == Effort::measure ? transform::Effort::measure : transform::Effort::estimate) {}
  std::size_t scratch_bytes() const noexcept override { return transform_.scratch_bytes(); }
  void run(const transform::Pencils<const std::byte>& source, const transform::Pencils<std::byte>& destination,
           std::int64_t pencils, std::span<std::byte> scratch, double factor,
           transform::Access access) const noexcept override {
    transform_.run(source, destination, pencils, scratch, static_cast<Real>(factor), access);
  }

 private:
  transform::Transform<Real> transform_;
};

std::unique_ptr<LocalTransform> plan_own(const PencilShape& shape, std::int64_t real_bytes, Effort effort) {
  if (real_bytes == sizeof(float)) {
    return std::make_unique<OwnTransform<float>>(shape, effort);
  }
  return std::make_unique<OwnTransform<double>>(shape, effort);
}

}  // namespace

const TransformTraits& traits_of(RowKind kind) noexcept {
  static constexpr std::array<TransformTraits, 15> traits{{{RowKind::backward, false, false, 1, 0},
                                                           {RowKind::forward, false, false, 1, 0},
                                                           {RowKind::complex_to_real, true, false, 1, 0},
                                                           {RowKind::real_to_complex, false, true, 1, 0},
                                                           {RowKind::redft00, true, true, 2, -1},
                                                           {RowKind::redft01, true, true, 2, 0},
                                                           {RowKind::redft10, true, true, 2, 0},
                                                           {RowKind::redft11, true, true, 2, 0},
                                                           {RowKind::rodft00, true, true, 2, 1},
                                                           {RowKind::rodft01, true, true, 2, 0},
                                                           {RowKind::rodft10, true, true, 2, 0},
                                                           {RowKind::rodft11, true, true, 2, 0},
                                                           {RowKind::hc2r, true, true, 1, 0},
                                                           {RowKind::r2hc, true, true, 1, 0},
                                                           {RowKind::dht, true, true, 1, 0}}};
  return traits[static_cast<std::size_t>(kind)];
}

RowKind row_kind_of(RealKind kind) noexcept {
  return static_cast<RowKind>(static_cast<int>(RowKind::redft00) + static_cast<int>(kind));
}

LocalLibrary own_transforms() {
  return {.name = "penstock",
          .takes_any_places = true,
          .can = [](RowKind) { return true; },
          .scratch_bytes =
              [](const PencilShape& shape, std::int64_t real_bytes) {
                return plan_own(shape, real_bytes, Effort::estimate)->scratch_bytes();
              },
          .plan = plan_own,
          .import_learned = transform::import_learned,
          .export_learned = transform::export_learned};
}

const std::vector<LocalLibrary>& local_libraries() {
  static const std::vector<LocalLibrary> libraries {
    own_transforms(),
#if PENSTOCK_HAS_FFTW
        fftw_transforms(),
#endif
  };
  return libraries;
}

const LocalLibrary* find_library(const std::string& name, RowKind kind, std::int64_t numbers) {
  for (const LocalLibrary& library : local_libraries()) {
    const bool can = library.can(kind) && (library.takes_any_places || numbers == 1);
    if ((name.empty() || name == library.name) && can) {
      return &library;
    }
  }
  return nullptr;
}

std::string local_transform_names() {
  std::string names;
  for (const LocalLibrary& library : local_libraries()) {
    names += (names.empty() ? "" : ", ") + library.name;
  }
  return names;
}

}  // namespace penstock::fft
