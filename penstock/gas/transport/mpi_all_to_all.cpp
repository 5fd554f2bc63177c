#include "penstock/gas/transport/mpi_all_to_all.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/transport/mpi_messages.hpp"

namespace penstock::gas {
namespace {

/// A communicator that is freed with its last user, unless MPI has ended before.
std::shared_ptr<const MPI_Comm> owned(MPI_Comm comm) {
  return {new MPI_Comm(comm), [](const MPI_Comm* last) {
            const std::unique_ptr<const MPI_Comm> owner(last);
            MPI_Comm mine = *last;
            int is_finalized = 0;
            MPI_Finalized(&is_finalized);
            if (is_finalized == 0) {
              MPI_Comm_free(&mine);
            }
          }};
}

/// One side of a call, as MPI takes it: counts and displacements of `unit` bytes each, from `base` on.
struct Side {
  std::byte* base = nullptr;
  std::size_t unit = 1;
  std::vector<int> counts;
  std::vector<int> displacements;

  explicit Side(const std::vector<std::span<std::byte>>& parts) {
    for (const auto& part : parts) {
      if (!part.empty() && (base == nullptr || part.data() < base)) {
        base = part.data();
      }
    }
    // The largest unit that all are multiples of: MPI counts in 31 bits.
    std::size_t common = 0;
    for (const auto& part : parts) {
      if (!part.empty()) {
        common = std::gcd(std::gcd(common, part.size()), static_cast<std::size_t>(part.data() - base));
      }
    }
    unit = common == 0 ? 1 : common;
    for (const auto& part : parts) {
      counts.push_back(count_of(part.size()));
      displacements.push_back(part.empty() ? 0 : count_of(static_cast<std::size_t>(part.data() - base)));
    }
  }

 private:
  int count_of(std::size_t bytes) const {
    if (bytes / unit > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw Error(fmt::format("{} bytes in units of {} are more than one MPI call can count", bytes, unit));
    }
    return static_cast<int>(bytes / unit);
  }
};

class AllToAllChannel final : public Channel {
 public:
  AllToAllChannel(std::shared_ptr<const MPI_Comm> comm, std::shared_ptr<std::mutex> mutex, const AllToAllCall& call,
                  bool is_blocking)
      : comm_(std::move(comm)),
        mutex_(std::move(mutex)),
        outgoing_(call.outgoing),
        incoming_(call.incoming),
        outgoing_type_(ByteType::unit(outgoing_.unit)),
        incoming_type_(ByteType::unit(incoming_.unit)),
        is_blocking_(is_blocking) {}

  void start() override {
    const std::scoped_lock lock(*mutex_);
    if (is_blocking_) {
      check_mpi(MPI_Alltoallv(outgoing_.base, outgoing_.counts.data(), outgoing_.displacements.data(),
                              outgoing_type_.get(), incoming_.base, incoming_.counts.data(),
                              incoming_.displacements.data(), incoming_type_.get(), *comm_),
                "MPI_Alltoallv");
    } else {
      check_mpi(MPI_Ialltoallv(outgoing_.base, outgoing_.counts.data(), outgoing_.displacements.data(),
                               outgoing_type_.get(), incoming_.base, incoming_.counts.data(),
                               incoming_.displacements.data(), incoming_type_.get(), *comm_, &request_),
                "MPI_Ialltoallv");
    }
  }

  bool test() override {
    const std::scoped_lock lock(*mutex_);
    return request_ == MPI_REQUEST_NULL || is_complete(request_);
  }

 private:
  std::shared_ptr<const MPI_Comm> comm_;
  std::shared_ptr<std::mutex> mutex_;
  Side outgoing_;
  Side incoming_;
  ByteType outgoing_type_;
  ByteType incoming_type_;
  bool is_blocking_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::vector<std::unique_ptr<Channel>> make_all_to_all_channels(MPI_Comm comm, std::shared_ptr<std::mutex> mutex,
                                                               std::vector<AllToAllCall> calls, bool is_blocking) {
  const auto shared = owned(comm);
  std::vector<std::unique_ptr<Channel>> channels;
  for (const AllToAllCall& call : calls) {
    channels.push_back(std::make_unique<AllToAllChannel>(shared, mutex, call, is_blocking));
  }
  return channels;
}

}  // namespace penstock::gas
