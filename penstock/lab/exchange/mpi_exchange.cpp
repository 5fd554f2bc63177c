#include "penstock/lab/exchange/mpi_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "penstock/base/numbers.hpp"
#include "penstock/lab/exchange/mpi_exchange_parts.hpp"

namespace penstock::lab {

void check_exchange(int code, const char* call) {
  if (code != MPI_SUCCESS) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw Error(fmt::format("{} failed: {}", call, text.data()));
  }
}

int count_of(std::size_t bytes, std::size_t unit) {
  if (bytes / unit > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error(fmt::format("{} bytes in units of {} are more than one MPI call can count", bytes, unit));
  }
  return static_cast<int>(bytes / unit);
}

bool has_mpi_ended() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  return is_finalized != 0;
}

Communicator::Communicator(const gas::Team& team, MPI_Comm world) : in_turn_(gas::mpi_lock_of(team)) {
  std::vector<int> members;
  team.together([&] {
    int is_initialized = 0;
    int size = 0;
    MPI_Initialized(&is_initialized);
    if (is_initialized != 0) {
      check_exchange(MPI_Comm_size(world, &size), "MPI_Comm_size");
    }
    for (int rank = 0; rank < team.size(); ++rank) {
      members.push_back(team.world_rank(rank));
    }
    if (std::ranges::max(members) >= size || team.transport().name == "threads") {
      throw Error(fmt::format("the transport '{}' has no MPI that could carry messages: its peers' memory is mapped",
                              team.transport().name));
    }
  });
  team.barrier();  // all go into MPI's blocking call together
  in_turn([&] {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group mine = MPI_GROUP_NULL;
    check_exchange(MPI_Comm_group(world, &all), "MPI_Comm_group");
    check_exchange(MPI_Group_incl(all, team.size(), members.data(), &mine), "MPI_Group_incl");
    check_exchange(MPI_Comm_create_group(world, mine, 0, &comm_), "MPI_Comm_create_group");
    MPI_Group_free(&mine);
    MPI_Group_free(&all);
    check_exchange(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  });
}
Communicator::~Communicator() {
  if (!has_mpi_ended()) {
    MPI_Comm_free(&comm_);
  }
}

bool Communicator::is_done(MPI_Request& request) const {
  int is_done = 0;
  in_turn([&] { check_exchange(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test"); });
  return is_done != 0;
}

std::vector<std::size_t> offsets_of(const std::vector<gas::Outgoing>& outgoing, int in_place) {
  std::vector<std::size_t> offsets{0};
  for (const gas::Outgoing& message : outgoing) {
    offsets.push_back(offsets.back() + (message.peer == in_place ? 0 : round_up(message.bytes, 64)));
  }
  return offsets;
}

Memory take_memory(const gas::Team& team, std::size_t bytes) {
  Memory memory;
  team.together([&] { memory = Memory(bytes); });
  return memory;
}

namespace {

class Method final : public gas::ExchangeMethod {
 public:
  Method(MpiExchange kind, MPI_Comm world) : kind_(kind), world_(world) {}

  std::string_view name() const noexcept override {
    switch (kind_) {
      case MpiExchange::messages:
        return "mpi-slabs";
      case MpiExchange::alltoall:
        return "mpi-packed";
      case MpiExchange::ialltoall:
        return "mpi-ialltoall";
    }
    return "";
  }

  std::size_t buffer_bytes(const gas::Team& team, const std::vector<gas::Outgoing>& outgoing) const override {
    return offsets_of(outgoing, kind_ == MpiExchange::messages ? team.rank() : -1).back();
  }

  std::unique_ptr<gas::ExchangeBackend> make(const gas::Team& team, const gas::Segment& segment,
                                             std::vector<gas::Outgoing> outgoing,
                                             std::vector<gas::Incoming> incoming) const override {
    if (kind_ == MpiExchange::messages) {
      return exchange_by_mpi_messages(team, segment, std::move(outgoing), incoming, world_);
    }
    return exchange_by_mpi_calls(team, segment, outgoing, incoming, world_, kind_ == MpiExchange::alltoall);
  }

 private:
  MpiExchange kind_;
  MPI_Comm world_;
};

}  // namespace

std::shared_ptr<const gas::ExchangeMethod> mpi_exchange(MpiExchange kind, MPI_Comm world) {
  return std::make_shared<const Method>(kind, world);
}

}  // namespace penstock::lab
