#include "penstock/interpose/wire_types.hpp"

#include <limits>
#include <mutex>

#include "penstock/interpose/settings.hpp"

namespace penstock::interpose {
namespace {

MPI_Datatype make_type(std::int64_t bytes, bool has_gap) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int status = MPI_SUCCESS;
  if (has_gap) {
    const int lengths[] = {static_cast<int>(bytes - gap_bytes), static_cast<int>(gap_bytes)};
    const MPI_Aint offsets[] = {0, static_cast<MPI_Aint>(bytes)};
    status = PMPI_Type_create_hindexed(2, lengths, offsets, MPI_PACKED, &type);
  } else {
    status = PMPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type);
  }
  if (status != MPI_SUCCESS || PMPI_Type_commit(&type) != MPI_SUCCESS) {
    return MPI_DATATYPE_NULL;
  }
  return type;
}

}  // namespace

WireTypes::WireTypes() : are_gaps_faster_(is_job_on_one_node()) {}

void WireTypes::free_all() noexcept {
  const std::unique_lock lock(mutex_);
  for (BySize* const types : {&gapped_, &contiguous_}) {
    for (auto& [bytes, type] : *types) {
      if (type != MPI_DATATYPE_NULL) {
        PMPI_Type_free(&type);
      }
    }
    types->clear();
  }
}

MPI_Datatype WireTypes::find_or_make(BySize& types, std::int64_t bytes, bool has_gap) noexcept {
  {
    const std::shared_lock lock(mutex_);
    const auto found = types.find(bytes);
    if (found != types.end()) {
      return found->second;
    }
  }
  const std::unique_lock lock(mutex_);
  if (types.size() >= max_types || bytes > std::numeric_limits<int>::max()) {
    return MPI_DATATYPE_NULL;
  }
  const auto [place, is_new] = types.try_emplace(bytes, MPI_DATATYPE_NULL);
  if (is_new) {
    place->second = make_type(bytes, has_gap);
  }
  return place->second;
}

}  // namespace penstock::interpose
