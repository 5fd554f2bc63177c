#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock/base/error.hpp"
#include "penstock/volume/state.hpp"

namespace penstock::volume {

void check_box(const std::string& path, const Extents& size, const Box& box, std::int64_t element_bytes,
               std::size_t bytes) {
  bool lies_within = true;
  for (std::size_t d = 0; d < size.size(); ++d) {
    lies_within = lies_within && box.lower[d] >= 0 && box.extent[d] >= 0 && box.lower[d] <= size[d] &&
                  box.extent[d] <= size[d] - box.lower[d];
  }
  if (!lies_within) {
    throw Error(fmt::format("a box of {}x{}x{} points at ({}) does not lie within the {}x{}x{} of '{}'", box.extent[0],
                            box.extent[1], box.extent[2], fmt::join(box.lower, ", "), size[0], size[1], size[2], path));
  }
  if (static_cast<std::size_t>(box.count() * element_bytes) != bytes) {
    throw Error(fmt::format("a box of {}x{}x{} points of '{}' is {} bytes, and {} were given", box.extent[0],
                            box.extent[1], box.extent[2], path, box.count() * element_bytes, bytes));
  }
}

void for_each_run(const Extents& size, const Box& box,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
  if (box.count() == 0) {
    return;
  }
  // Whole rows, and planes of these, are one run.
  const bool has_rows = box.extent[0] == size[0];
  const bool has_planes = has_rows && box.extent[1] == size[1];
  const std::int64_t rows = has_rows ? 1 : box.extent[1];
  const std::int64_t planes = has_planes ? 1 : box.extent[2];
  const std::int64_t count = box.count() / (rows * planes);
  std::int64_t done = 0;
  for (std::int64_t z = 0; z < planes; ++z) {
    for (std::int64_t y = 0; y < rows; ++y, done += count) {
      visit(((box.lower[2] + z) * size[1] + box.lower[1] + y) * size[0] + box.lower[0], count, done);
    }
  }
}

}  // namespace penstock::volume
