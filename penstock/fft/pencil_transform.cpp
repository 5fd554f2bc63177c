#include "penstock/fft/pencil_transform.hpp"

#include "penstock/fft/element_transform.hpp"
#include "penstock/fft/pruned_transform.hpp"

namespace penstock::fft {

std::size_t scratch_bytes(const LocalLibrary& library, const PencilShape& shape, std::int64_t real_bytes) {
  if (shape.modes == 0 && shape.numbers == 1) {
    return library.scratch_bytes(shape, real_bytes);
  }
  return plan_pencils(library, shape, real_bytes, Effort::estimate)->scratch_bytes();
}

std::unique_ptr<LocalTransform> plan_pencils(const LocalLibrary& library, const PencilShape& shape,
                                             std::int64_t real_bytes, Effort effort) {
  return shape.modes > 0     ? make_pruned_transform(library, shape, real_bytes, effort)
         : shape.numbers > 1 ? make_element_transform(library, shape, real_bytes, effort)
                             : library.plan(shape, real_bytes, effort);
}

}  // namespace penstock::fft
