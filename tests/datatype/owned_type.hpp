// MPI datatypes that free themselves, for tests.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <utility>

namespace penstock::datatype {

/// A datatype that is freed with it, unless it is one of MPI's own. Movable, not copyable.
class OwnedType {
 public:
  explicit OwnedType(MPI_Datatype type) : type_(type) {}
  ~OwnedType() {
    if (type_ != MPI_DATATYPE_NULL && !is_of_mpi()) {
      MPI_Type_free(&type_);
    }
  }
  OwnedType(OwnedType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  OwnedType& operator=(OwnedType&&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  bool is_of_mpi() const {
    int combiner = MPI_COMBINER_NAMED;
#if MPI_VERSION >= 4
    MPI_Count count = 0;  // of this and that; the call knows types made with large counts as well
    MPI_Type_get_envelope_c(type_, &count, &count, &count, &count, &combiner);
#else
    int count = 0;
    MPI_Type_get_envelope(type_, &count, &count, &count, &combiner);
#endif
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }

  MPI_Datatype type_;
};

/// Thrown where MPI refuses to make a type.
struct Refused : std::runtime_error {
  Refused() : std::runtime_error("MPI refused a datatype") {}
};

/// What `constructor`, one of MPI's MPI_Type_..., makes of the arguments.
template <class Constructor, class... Arguments>
OwnedType make(Constructor constructor, const Arguments&... arguments) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (constructor(arguments..., &type) != MPI_SUCCESS) {
    throw Refused();
  }
  return OwnedType(type);
}

}  // namespace penstock::datatype
