// MPI datatypes that free themselves, for tests.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <utility>

namespace penstock::datatype {

/// A derived datatype that is freed with it. Movable, not copyable.
class OwnedType {
 public:
  explicit OwnedType(MPI_Datatype type) : type_(type) {}
  ~OwnedType() {
    if (type_ != MPI_DATATYPE_NULL) {
      MPI_Type_free(&type_);
    }
  }
  OwnedType(OwnedType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  OwnedType& operator=(OwnedType&&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_;
};

/// What `constructor`, one of MPI's MPI_Type_..., makes of the arguments.
template <class Constructor, class... Arguments>
OwnedType make(Constructor constructor, Arguments... arguments) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (constructor(arguments..., &type) != MPI_SUCCESS) {
    throw std::runtime_error("MPI refused a datatype");
  }
  return OwnedType(type);
}

}  // namespace penstock::datatype
