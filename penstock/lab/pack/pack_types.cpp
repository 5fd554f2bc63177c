#include "penstock/lab/pack/pack_types.hpp"

#include <fmt/format.h>

#include "penstock/base/base.hpp"

namespace penstock::lab {
namespace {

void check(int code, const char* call) {
  if (code != MPI_SUCCESS) {
    throw Error(fmt::format("{} failed with MPI's error {}", call, code));
  }
}

/// The type that `construct(MPI_Datatype*)` makes.
template <class Construct>
Type make(const char* call, Construct construct) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(construct(&made), call);
  return Type::owning(made);
}

int int_of(std::size_t count) {
  return static_cast<int>(count);
}

}  // namespace

void Type::commit() {
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
}

std::int64_t Type::bytes() const {
  MPI_Count bytes = 0;
  check(MPI_Type_size_x(type_, &bytes), "MPI_Type_size_x");
  return bytes;
}

Type contiguous(int count, const Type& old) {
  return make("MPI_Type_contiguous", [&](MPI_Datatype* made) { return MPI_Type_contiguous(count, old.get(), made); });
}

Type vector(int count, int block, int stride, const Type& old) {
  return make("MPI_Type_vector",
              [&](MPI_Datatype* made) { return MPI_Type_vector(count, block, stride, old.get(), made); });
}

Type hvector(int count, int block, MPI_Aint stride, const Type& old) {
  return make("MPI_Type_create_hvector",
              [&](MPI_Datatype* made) { return MPI_Type_create_hvector(count, block, stride, old.get(), made); });
}

Type indexed_block(int block, const std::vector<int>& displacements, const Type& old) {
  return make("MPI_Type_create_indexed_block", [&](MPI_Datatype* made) {
    return MPI_Type_create_indexed_block(int_of(displacements.size()), block, displacements.data(), old.get(), made);
  });
}

Type hindexed(const std::vector<int>& lengths, const std::vector<MPI_Aint>& displacements, const Type& old) {
  return make("MPI_Type_create_hindexed", [&](MPI_Datatype* made) {
    return MPI_Type_create_hindexed(int_of(lengths.size()), lengths.data(), displacements.data(), old.get(), made);
  });
}

Type structure(const std::vector<MPI_Aint>& displacements, const std::vector<Type>& members) {
  const std::vector<int> lengths(members.size(), 1);
  std::vector<MPI_Datatype> types;
  for (const Type& member : members) {
    types.push_back(member.get());
  }
  return make("MPI_Type_create_struct", [&](MPI_Datatype* made) {
    return MPI_Type_create_struct(int_of(types.size()), lengths.data(), displacements.data(), types.data(), made);
  });
}

Type resized(const Type& old, MPI_Aint extent) {
  return make("MPI_Type_create_resized",
              [&](MPI_Datatype* made) { return MPI_Type_create_resized(old.get(), 0, extent, made); });
}

Type subarray(const std::vector<int>& sizes, const std::vector<int>& subsizes, const std::vector<int>& starts,
              const Type& old) {
  return make("MPI_Type_create_subarray", [&](MPI_Datatype* made) {
    return MPI_Type_create_subarray(int_of(sizes.size()), sizes.data(), subsizes.data(), starts.data(), MPI_ORDER_C,
                                    old.get(), made);
  });
}

}  // namespace penstock::lab
