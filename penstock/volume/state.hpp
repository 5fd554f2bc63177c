// What a Reader keeps, and the runs of a box. Private to volume.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "penstock/base/config.hpp"
#include "penstock/volume/bytes.hpp"
#include "penstock/volume/description.hpp"
#include "penstock/volume/volume.hpp"
#if PENSTOCK_HAS_HDF5
#include "penstock/volume/hdf5.hpp"
#endif

namespace penstock::volume {

struct Reader::State {
  static std::unique_ptr<State> open(const std::string& text);
  Name name;
  std::unique_ptr<Bytes> bytes;
  Description description;
  std::string obstacle;
#if PENSTOCK_HAS_HDF5
  std::optional<Dataset> dataset;
#endif
};

/// Throws Error where a box leaves the field, or has not `bytes` bytes.
void check_box(const std::string& path, const Extents& size, const Box& box, std::int64_t element_bytes,
               std::size_t bytes);

/// Calls visit(first, count, done) for each run of elements of the box that lie side by side in a field of `size`
/// points, in order: the first one's number in the field, how many there are, and how many came before.
void for_each_run(const Extents& size, const Box& box,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit);

}  // namespace penstock::volume
