// MPI datatypes that are freed with their owner, and their constructors as functions.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace penstock::lab {

/// A datatype of MPI's own, or one that is freed on destruction. Movable, not copyable. Types that others are made of
/// may be freed before those, as MPI says.
class Type {
 public:
  /// One of MPI's own.
  explicit Type(MPI_Datatype named) noexcept : type_(named) {}
  ~Type() {
    if (is_owned_) {
      MPI_Type_free(&type_);
    }
  }
  Type(Type&& other) noexcept : type_(other.type_), is_owned_(std::exchange(other.is_owned_, false)) {}
  Type& operator=(Type&& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(is_owned_, other.is_owned_);
    return *this;
  }

  MPI_Datatype get() const noexcept { return type_; }
  void commit();
  /// The bytes of data in one element.
  std::int64_t bytes() const;

  /// Takes over a type that a constructor of MPI's has made.
  static Type owning(MPI_Datatype made) noexcept {
    Type type(made);
    type.is_owned_ = true;
    return type;
  }

 private:
  MPI_Datatype type_;
  bool is_owned_ = false;
};

// As MPI's constructors of these names. Strides of `vector` and displacements of `indexed_block` in elements of the old
// type, all others in bytes. They throw Error where MPI fails and was told to return its errors.
Type contiguous(int count, const Type& old);
Type vector(int count, int block, int stride, const Type& old);
Type hvector(int count, int block, MPI_Aint stride, const Type& old);
Type indexed_block(int block, const std::vector<int>& displacements, const Type& old);
Type hindexed(const std::vector<int>& lengths, const std::vector<MPI_Aint>& displacements, const Type& old);
Type structure(const std::vector<MPI_Aint>& displacements, const std::vector<Type>& members);
Type resized(const Type& old, MPI_Aint extent);
/// In C order: the last index is the fastest.
Type subarray(const std::vector<int>& sizes, const std::vector<int>& subsizes, const std::vector<int>& starts,
              const Type& old);

}  // namespace penstock::lab
