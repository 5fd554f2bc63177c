// Matrices on the ranks of a team: where elements lie, and their puts and gets.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "penstock/base/base.hpp"
#include "penstock/c/handles.hpp"
#include "penstock/c/options.hpp"
#include "penstock/c/status.hpp"

namespace gas = penstock::gas;
using penstock::c::status_of;

namespace {

gas::ArrayShape<2> shape_of(const penstock_matrix_options& given) {
  return {.extents = {given.extents[0], given.extents[1]},
          .blocks = {given.blocks[0], given.blocks[1]},
          .grid = {given.grid[0], given.grid[1]}};
}

/// Collective: a matrix of the type with this number in its variant.
template <std::size_t type = 0>
penstock_matrix* make(const gas::Team& team, const gas::ArrayShape<2>& shape, std::size_t wanted) {
  using Array = std::variant_alternative_t<type, decltype(penstock_matrix::array)>;
  if constexpr (type + 1 < std::variant_size_v<decltype(penstock_matrix::array)>) {
    if (wanted != type) {
      return make<type + 1>(team, shape, wanted);
    }
  }
  return new penstock_matrix{team, Array(team, shape)};
}

gas::Box<2> box_of(const std::int64_t* first, const std::int64_t* extents, const void* data, std::int64_t leading) {
  if (extents[0] > 0 && extents[1] > 0 && data == nullptr) {
    throw penstock::Error("no array: it is NULL");
  }
  if (leading < extents[1]) {
    throw penstock::Error("rows of " + std::to_string(extents[1]) + " elements, and they begin " +
                          std::to_string(leading) + " apart: give at least their length");
  }
  return {{first[0], first[1]}, {extents[0], extents[1]}};
}

/// One dimension of the matrix, and the place of this rank in the grid along it.
struct Dimension {
  gas::BlockCyclic blocks;
  int owner;
};

Dimension dimension_of(const penstock_matrix& matrix, int dimension) {
  const auto d = static_cast<std::size_t>(dimension == 0 ? 0 : 1);
  return matrix.use([&](const auto& array) {
    const std::array<std::int64_t, 2> grid = array.grid();
    const auto columns = static_cast<int>(grid[1]);
    const int rank = matrix.team.rank();
    return Dimension{{array.extents()[d], array.blocks()[d], static_cast<int>(grid[d])},
                     d == 0 ? rank / columns : rank % columns};
  });
}

}  // namespace

extern "C" {

void penstock_matrix_options_init(penstock_matrix_options* options, size_t struct_size) {
  penstock_matrix_options defaults{};
  defaults.type = PENSTOCK_FLOAT64;
  penstock::c::init_options(options, struct_size, defaults);
}

penstock_status penstock_matrix_create(penstock_team* team, const penstock_matrix_options* options,
                                       penstock_matrix** matrix) {
  return status_of([&] {
    gas::ArrayShape<2> shape{};
    std::size_t type = 0;
    team->team.together([&] {
      const auto given = penstock::c::known_options(options, penstock_matrix_options_init);
      shape = shape_of(given);
      type = penstock::c::checked<std::size_t>(given.type, 4, "a type of elements");
    });
    team->team.agree_on("type of elements", std::to_string(type));
    *matrix = make(team->team, shape, type);
  });
}

penstock_status penstock_matrix_destroy(penstock_matrix* matrix) {
  return status_of([&] { delete matrix; });
}

void* penstock_matrix_local(penstock_matrix* matrix) {
  return matrix->use([](const auto& array) -> void* { return array.local().data(); });
}

int64_t penstock_matrix_local_extent(const penstock_matrix* matrix, int dimension) {
  return matrix->use([&](const auto& array) { return array.view().extents[dimension == 0 ? 0 : 1]; });
}

int64_t penstock_matrix_index(const penstock_matrix* matrix, int dimension, int64_t position) {
  if (position < 0 || position >= penstock_matrix_local_extent(matrix, dimension)) {
    return -1;
  }
  const Dimension along = dimension_of(*matrix, dimension);
  return along.blocks.index(along.owner, position);
}

penstock_status penstock_matrix_put(penstock_matrix* matrix, const int64_t first[2], const int64_t extents[2],
                                    const void* data, int64_t leading) {
  return status_of([&] {
    const gas::Box<2> box = box_of(first, extents, data, leading);
    matrix->use([&](auto& array) {
      using T = typename std::remove_cvref_t<decltype(array.local())>::element_type;
      array.start_put(box, static_cast<const T*>(data), {leading, 1}).wait_or_abandon();
    });
  });
}

penstock_status penstock_matrix_get(penstock_matrix* matrix, const int64_t first[2], const int64_t extents[2],
                                    void* data, int64_t leading) {
  return status_of([&] {
    const gas::Box<2> box = box_of(first, extents, data, leading);
    matrix->use([&](auto& array) {
      using T = typename std::remove_cvref_t<decltype(array.local())>::element_type;
      array.start_get(box, static_cast<T*>(data), {leading, 1}).wait_or_abandon();
    });
  });
}
}
