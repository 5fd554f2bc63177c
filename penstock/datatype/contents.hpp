// What MPI reports of a datatype: its constructor and the arguments of that. Private to the module.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace penstock::datatype {

/// Throws Error with MPI's own text where `code` is not MPI_SUCCESS. `call` names what returned it.
void check_mpi(int code, const char* call);

/// Room for `size` values, on the stack where they are few.
template <class T, std::size_t few>
class Room {
 public:
  T* take(std::size_t size) {
    if (size > few) {
      many_ = std::make_unique_for_overwrite<T[]>(size);
      data_ = many_.get();
    }
    return data_;
  }
  const T& operator[](std::size_t i) const { return data_[i]; }
  Room() = default;
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

 private:
  T few_[few];
  std::unique_ptr<T[]> many_;
  T* data_ = few_;
};

/// The envelope and the contents of a datatype. Owns what MPI hands out with them: the derived types among those that
/// it was made of are freed with it.
///
/// Calls MPI by its profiling names, so that neither a profiler nor a library that takes MPI's calls over sees ours.
class Contents {
 public:
  explicit Contents(MPI_Datatype type);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  int combiner() const { return combiner_; }
  /// Whether MPI made it, so that it has no contents and is not for us to free.
  bool is_predefined() const;
  /// Argument `i` among counts, lengths, strides and displacements, in the order of the constructor's arguments,
  /// whether MPI holds them as integers, addresses or large counts.
  std::int64_t number(std::size_t i) const {
    if (large_count_ > 0) {
      return large_[i];
    }
    return i < integer_count_ ? integers_[i] : addresses_[i - integer_count_];
  }
  /// Argument `i` from the end among the integers alone, which is where subarray and darray have their `order`.
  int last_integer(std::size_t i) const { return integers_[integer_count_ - 1 - i]; }
  int integer(std::size_t i) const { return integers_[i]; }
  /// The large counts, where the constructor was called with such; a null pointer where not.
  const MPI_Count* large() const { return large_count_ > 0 ? &large_[0] : nullptr; }
  std::size_t types() const { return type_count_; }
  MPI_Datatype type(std::size_t i) const { return types_[i]; }

 private:
  int combiner_ = MPI_COMBINER_NAMED;
  std::size_t integer_count_ = 0;
  std::size_t large_count_ = 0;
  std::size_t type_count_ = 0;
  // Few enough for every constructor but the lists, and for arrays of up to five dimensions.
  Room<int, 24> integers_;
  Room<MPI_Aint, 4> addresses_;
  Room<MPI_Count, 16> large_;
  Room<MPI_Datatype, 4> types_;
};

}  // namespace penstock::datatype
