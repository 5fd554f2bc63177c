// Halos of WRF as DDTBench has them: one message of the faces of nine arrays, of two, three and four dimensions.
#include <array>

#include "penstock/lab/pack/pack_cases.hpp"

namespace penstock::lab {
namespace {

struct Indices {
  int first;
  int last;
  constexpr int size() const { return last - first + 1; }
};

/// The memory and the message of one rank: arrays are (i, k, j) with i fastest.
struct Halo {
  const char* name;
  Indices memory_i, memory_j, memory_k;
  Indices i, j, k;
};

constexpr std::array halos{
    Halo{"y_{}_2x2", {-4, 27}, {34, 85}, {1, 65}, {1, 23}, {41, 43}, {1, 65}},
    Halo{"x_{}_2x2", {-4, 27}, {34, 85}, {1, 65}, {18, 20}, {38, 81}, {1, 65}},
    Halo{"y_{}_8x8", {4, 22}, {4, 27}, {1, 65}, {8, 18}, {11, 13}, {1, 65}},
    Halo{"x_{}_8x8", {4, 22}, {4, 27}, {1, 65}, {13, 15}, {8, 23}, {1, 65}},
};

constexpr int slabs = 2;        // of the arrays of four dimensions, of which the message has the second
constexpr MPI_Aint align = 64;  // bytes, of each array

/// The three shapes of member, as vectors of vectors or as subarrays.
class Members {
 public:
  Members(const Halo& halo, bool is_subarray) : halo_(halo), is_subarray_(is_subarray) {}

  PackCase make() {
    for (const int dimensions : {2, 2, 2, 2, 3, 3, 3, 4, 4}) {
      add(dimensions);
    }
    case_.array_bytes = end_;
    case_.make_type = [halo = halo_, is_subarray = is_subarray_, displacements = displacements_] {
      const Members members(halo, is_subarray);
      std::vector<Type> types;
      for (const int dimensions : {2, 2, 2, 2, 3, 3, 3, 4, 4}) {
        types.push_back(members.type(dimensions));
      }
      return structure(displacements, types);
    };
    return std::move(case_);
  }

 private:
  int row() const { return halo_.memory_i.size(); }
  int plane() const { return row() * halo_.memory_k.size(); }
  int box() const { return plane() * halo_.memory_j.size(); }

  /// Floats from an array's start to its part of the message.
  std::int64_t start(int dimensions) const {
    const int i = halo_.i.first - halo_.memory_i.first;
    const int j = halo_.j.first - halo_.memory_j.first;
    const int k = halo_.k.first - halo_.memory_k.first;
    if (dimensions == 2) {
      return i + row() * j;
    }
    return i + row() * k + plane() * j + (dimensions == 4 ? box() : 0);
  }

  Type type(int dimensions) const {
    const Type real(MPI_FLOAT);
    const auto& [name, mi, mj, mk, i, j, k] = halo_;
    if (is_subarray_) {
      std::vector<int> sizes{mj.size(), mk.size(), mi.size()};
      std::vector<int> subsizes{j.size(), k.size(), i.size()};
      std::vector<int> starts{j.first - mj.first, k.first - mk.first, i.first - mi.first};
      if (dimensions == 2) {
        for (auto* list : {&sizes, &subsizes, &starts}) {
          list->erase(list->begin() + 1);
        }
      } else if (dimensions == 4) {
        sizes.insert(sizes.begin(), slabs);
        subsizes.insert(subsizes.begin(), 1);
        starts.insert(starts.begin(), 1);
      }
      return subarray(sizes, subsizes, starts, real);
    }
    if (dimensions == 2) {
      return vector(j.size(), i.size(), row(), real);
    }
    Type box3 = hvector(j.size(), 1, MPI_Aint{4} * plane(), vector(k.size(), i.size(), row(), real));
    return dimensions == 3 ? std::move(box3) : hvector(1, 1, MPI_Aint{4} * box(), box3);
  }

  void add(int dimensions) {
    const std::int64_t array = end_;
    const std::int64_t part = array + 4 * start(dimensions);
    displacements_.push_back(is_subarray_ ? array : part);
    if (dimensions == 2) {
      append(case_.hand, hand_nest(HandType::float32, part, {{halo_.j.size(), row()}}, halo_.i.size()));
    } else {
      append(case_.hand,
             hand_nest(HandType::float32, part, {{halo_.j.size(), plane()}, {halo_.k.size(), row()}}, halo_.i.size()));
    }
    const int floats = dimensions == 2 ? row() * halo_.memory_j.size() : dimensions == 3 ? box() : slabs * box();
    end_ = (array + MPI_Aint{4} * floats + align - 1) / align * align;
  }

  Halo halo_;
  bool is_subarray_;
  PackCase case_;
  std::vector<MPI_Aint> displacements_;
  MPI_Aint end_ = 0;
};

}  // namespace

void add_weather_cases(std::vector<PackCase>& cases) {
  for (const bool is_subarray : {false, true}) {
    for (std::size_t i = 0; i < (is_subarray ? 2 : halos.size()); ++i) {
      PackCase made = Members(halos[i], is_subarray).make();
      made.name = std::string("WRF_") + halos[i].name;
      made.name.replace(made.name.find("{}"), 2, is_subarray ? "sa" : "vec");
      cases.push_back(std::move(made));
    }
  }
}

}  // namespace penstock::lab
