#include "penstock/interpose/tallies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "penstock/base/clock.hpp"
#include "penstock/base/units.hpp"
#include "penstock/datatype/datatype.hpp"

namespace penstock::interpose {
namespace {

constexpr std::int64_t max_sampled_bytes = std::numeric_limits<int>::max();

std::string name_of(MPI_Datatype type) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  if (PMPI_Type_get_name(type, name.data(), &length) == MPI_SUCCESS && length > 0) {
    return {name.data(), static_cast<std::size_t>(length)};
  }
  switch (datatype::combiner_of(type)) {
    case MPI_COMBINER_DUP:
      return "dup";
    case MPI_COMBINER_CONTIGUOUS:
      return "contiguous";
    case MPI_COMBINER_VECTOR:
      return "vector";
    case MPI_COMBINER_HVECTOR:
      return "hvector";
    case MPI_COMBINER_INDEXED:
      return "indexed";
    case MPI_COMBINER_HINDEXED:
      return "hindexed";
    case MPI_COMBINER_INDEXED_BLOCK:
      return "indexed_block";
    case MPI_COMBINER_HINDEXED_BLOCK:
      return "hindexed_block";
    case MPI_COMBINER_STRUCT:
      return "struct";
    case MPI_COMBINER_SUBARRAY:
      return "subarray";
    case MPI_COMBINER_DARRAY:
      return "darray";
    case MPI_COMBINER_RESIZED:
      return "resized";
    default:
      return "other";
  }
}

/// After how many uses, as they were on average, the time saved exceeds what preparation took.
std::string payback(const Tally& tally) {
  const std::int64_t uses = tally.packed.uses + tally.unpacked.uses;
  const double mpi_s = tally.packed.estimated_mpi_seconds() + tally.unpacked.estimated_mpi_seconds();
  if (mpi_s == 0) {
    return "not sampled";
  }
  const double saved_per_use = (mpi_s - tally.packed.seconds - tally.unpacked.seconds) / static_cast<double>(uses);
  if (saved_per_use <= 0) {
    return "not paid back";
  }
  const double needed = std::ceil(tally.preparation_s / saved_per_use);
  return needed <= static_cast<double>(uses) ? fmt::format("after {:.0f} uses", needed)
                                             : fmt::format("not yet: {:.0f} uses", needed);
}

}  // namespace

double Tally::Sums::estimated_mpi_seconds() const noexcept {
  return mpi_bytes > 0 ? mpi_seconds / static_cast<double>(mpi_bytes) * static_cast<double>(bytes) : 0;
}

void Tally::add_preparation(double seconds) {
  const std::lock_guard lock(mutex);
  preparation_s += seconds;
}

void Tally::add_pack(std::int64_t bytes, double seconds, std::int64_t count, const void* user) {
  const std::lock_guard lock(mutex);
  ++packed.uses;
  packed.bytes += bytes;
  packed.seconds += seconds;
  // MPICH refuses to pack from MPI_BOTTOM.
  if (!packed.is_sample_due() || user == nullptr || type == MPI_DATATYPE_NULL || bytes > max_sampled_bytes ||
      count > max_sampled_bytes) {
    return;
  }
  std::vector<std::byte> scratch(static_cast<std::size_t>(bytes));
  int position = 0;
  const double start = penstock::seconds();
  if (PMPI_Pack(user, static_cast<int>(count), type, scratch.data(), static_cast<int>(bytes), &position,
                MPI_COMM_SELF) == MPI_SUCCESS) {
    packed.mpi_seconds += penstock::seconds() - start;
    packed.mpi_bytes += bytes;
  }
}

void Tally::add_unpack(std::int64_t bytes, double seconds, std::int64_t count, const std::byte* bytes_packed,
                       void* user) {
  const std::lock_guard lock(mutex);
  ++unpacked.uses;
  unpacked.bytes += bytes;
  unpacked.seconds += seconds;
  if (!unpacked.is_sample_due() || user == nullptr || type == MPI_DATATYPE_NULL || bytes > max_sampled_bytes ||
      count > max_sampled_bytes || bytes != count * element.bytes()) {
    return;
  }
  int position = 0;
  const double start = penstock::seconds();
  if (PMPI_Unpack(bytes_packed, static_cast<int>(bytes), &position, user, static_cast<int>(count), type,
                  MPI_COMM_SELF) == MPI_SUCCESS) {
    unpacked.mpi_seconds += penstock::seconds() - start;
    unpacked.mpi_bytes += bytes;
  }
}

Tally& Tallies::of(const layout::Layout& element, std::int64_t extent, MPI_Datatype type) {
  const std::lock_guard lock(mutex_);
  for (Tally& tally : tallies_) {
    if (tally.extent == extent && tally.element == element) {
      return tally;
    }
  }
  Tally& tally = tallies_.emplace_back();
  tally.element = element;
  tally.extent = extent;
  tally.name = name_of(type);
  PMPI_Type_dup(type, &tally.type);
  return tally;
}

void Tallies::add_exchange(std::int64_t bytes, double seconds, double mpi_seconds) {
  const std::lock_guard lock(mutex_);
  ++exchanges_.uses;
  exchanges_.bytes += bytes;
  exchanges_.seconds += seconds;
  exchanges_.mpi_bytes += mpi_seconds > 0 ? bytes : 0;
  exchanges_.mpi_seconds += mpi_seconds;
}

std::string Tallies::table() {
  const std::lock_guard lock(mutex_);
  std::vector<Tally*> used;
  for (Tally& tally : tallies_) {
    if (tally.packed.uses + tally.unpacked.uses > 0) {
      used.push_back(&tally);
    }
  }
  std::ranges::stable_sort(used, std::ranges::greater{},
                           [](const Tally* tally) { return tally->packed.bytes + tally->unpacked.bytes; });
  std::string text = fmt::format("{:<24} {:>12} {:>10} {:>12} {:>11} {:>11} {:>11}  {}\n", "type", "bytes each", "uses",
                                 "bytes", "seconds", "MPI's", "preparation", "paid back");
  for (const Tally* tally : used) {
    const double mpi_s = tally->packed.estimated_mpi_seconds() + tally->unpacked.estimated_mpi_seconds();
    text +=
        fmt::format("{:<24} {:>12} {:>10} {:>12} {:>11.6f} {:>11} {:>11.6f}  {}\n", tally->name, tally->element.bytes(),
                    tally->packed.uses + tally->unpacked.uses,
                    format_bytes(static_cast<std::uint64_t>(tally->packed.bytes + tally->unpacked.bytes)),
                    tally->packed.seconds + tally->unpacked.seconds,
                    mpi_s > 0 ? fmt::format("{:.6f}", mpi_s) : "not sampled", tally->preparation_s, payback(*tally));
  }
  if (exchanges_.uses > 0) {
    const double mpi_s = exchanges_.estimated_mpi_seconds();
    text += fmt::format("MPI_Alltoallw within the node: {} calls, {} sent, {:.6f} s; MPI's {}\n", exchanges_.uses,
                        format_bytes(static_cast<std::uint64_t>(exchanges_.bytes)), exchanges_.seconds,
                        mpi_s > 0 ? fmt::format("{:.6f} s", mpi_s) : "not sampled");
  }
  return text;
}

void Tallies::free_types() noexcept {
  const std::lock_guard lock(mutex_);
  for (Tally& tally : tallies_) {
    const std::lock_guard tally_lock(tally.mutex);
    if (tally.type != MPI_DATATYPE_NULL) {
      PMPI_Type_free(&tally.type);
    }
  }
}

}  // namespace penstock::interpose
