#include "penstock/base/config.hpp"

#if PENSTOCK_HAS_MPI
#include <fmt/format.h>

#include <string>

#include "penstock/base/error.hpp"
#include "penstock/datatype/contents.hpp"
#include "penstock/datatype/datatype.hpp"

namespace penstock::datatype {
namespace {

bool is_made_by_mpi(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

struct Envelope {
  int combiner = MPI_COMBINER_NAMED;
#if MPI_VERSION >= 4
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large = 0;
  MPI_Count types = 0;
#else
  int integers = 0;
  int addresses = 0;
  int types = 0;
#endif

  /// MPI's code. From MPI 4 on, the call that also knows types made with large counts, which the older one refuses.
  int read(MPI_Datatype type) {
#if MPI_VERSION >= 4
    return PMPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner);
#else
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
#endif
  }
};

}  // namespace

int combiner_of(MPI_Datatype type) noexcept {
  Envelope envelope;
  return type != MPI_DATATYPE_NULL && envelope.read(type) == MPI_SUCCESS ? envelope.combiner : MPI_UNDEFINED;
}

void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    PMPI_Error_string(code, text, &length);
    throw Error(fmt::format("{} failed: {}", call, std::string(text, static_cast<std::size_t>(length))));
  }
}

Contents::Contents(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) {
    throw Error("an MPI datatype is MPI_DATATYPE_NULL: it names nothing that could be moved");
  }
  Envelope envelope;
  check_mpi(envelope.read(type), "MPI_Type_get_envelope");
  combiner_ = envelope.combiner;
  if (is_predefined()) {
    return;
  }
  integer_count_ = static_cast<std::size_t>(envelope.integers);
  const auto address_count = static_cast<std::size_t>(envelope.addresses);
  const auto type_count = static_cast<std::size_t>(envelope.types);
  int* integers = integers_.take(integer_count_);
  MPI_Aint* addresses = addresses_.take(address_count);
  MPI_Datatype* types = types_.take(type_count);
#if MPI_VERSION >= 4
  large_count_ = static_cast<std::size_t>(envelope.large);
  check_mpi(PMPI_Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.large, envelope.types,
                                     integers, addresses, large_.take(large_count_), types),
            "MPI_Type_get_contents_c");
#else
  check_mpi(
      PMPI_Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types, integers, addresses, types),
      "MPI_Type_get_contents");
#endif
  type_count_ = type_count;  // from here on there is something to free
}

Contents::~Contents() {
  MPI_Datatype made_by_mpi = MPI_DATATYPE_NULL;
  for (std::size_t i = 0; i < type_count_; ++i) {
    MPI_Datatype type = types_[i];
    if (type == made_by_mpi) {
      continue;
    }
    Envelope envelope;
    envelope.read(type);
    if (is_made_by_mpi(envelope.combiner)) {
      made_by_mpi = type;
    } else {
      PMPI_Type_free(&type);
    }
  }
}

bool Contents::is_predefined() const {
  return is_made_by_mpi(combiner_);
}

}  // namespace penstock::datatype
#endif
