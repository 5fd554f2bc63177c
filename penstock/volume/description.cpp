#include "penstock/volume/description.hpp"

#include <fmt/format.h>

#include "penstock/base/error.hpp"

namespace penstock::volume {

void refuse_reading(const std::string& path, std::string_view problem) {
  throw Error(fmt::format("cannot read '{}': {}", path, problem));
}

}  // namespace penstock::volume
