// Teams: who communicates, and how they agree.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/engine.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gas/rank_index.hpp"
#include "penstock/gas/revocation.hpp"
#include "penstock/gas/team_calls.hpp"
#include "penstock/gas/transport/threads.hpp"
#include "penstock/gas/transport/transport.hpp"
#if PENSTOCK_HAS_MPI
#include "penstock/gas/transport/mpi.hpp"
#endif

namespace penstock::gas {

Team::Team(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), engine_(std::make_shared<Engine>(transport_)) {
  join(transport_->rank());
}

Team::Team(std::unique_ptr<Transport> transport, std::shared_ptr<Engine> engine, int world_rank)
    : transport_(std::move(transport)), engine_(std::move(engine)) {
  join(world_rank);
}

/// Collective: learns who the members are, and serves peers from now on while the transport waits.
void Team::join(int world_rank) {
  rank_ = transport_->rank();
  size_ = transport_->size();
  calls_ = std::make_unique<TeamCalls>(engine_, rank_);
  transport_->set_while_waiting(
      [engine = engine_.get(), transport = transport_.get(), revocation = calls_->revocation()] {
        engine->progress();
        if (transport->completed() >= revocation->completed_before()) {
          revocation->check();
        }
      });
  const TeamCalls::Seat mine{.world_rank = world_rank, .calls = calls_->id()};
  calls_->seat(all_gather(mine));
  for (const TeamCalls::Seat& seat : calls_->seats()) {
    world_ranks_.push_back(seat.world_rank);
  }
}

Team::~Team() {
  if (calls_ != nullptr && calls_->revocation()->is_set()) {
    transport_->abandon();
  }
}

Team::Team(Team&&) noexcept = default;

Team& Team::operator=(Team&& other) noexcept {
  if (this != &other) {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
  }
  return *this;
}

std::string_view Team::transport_name() const {
  return transport_->name();
}

bool Team::is_local(int peer) const {
  return transport_->is_local(peer);
}

bool Team::are_all_local() const {
  for (int peer = 0; peer < size(); ++peer) {
    if (!is_local(peer)) {
      return false;
    }
  }
  return true;
}

std::vector<int> Team::nodes() const {
  int lowest = 0;
  while (!is_local(lowest)) {
    ++lowest;
  }
  return all_gather(lowest);
}

std::vector<int> Team::hosts() const {
  if constexpr (is_simulated) {
    return nodes();  // all run in one process
  }
  return lowest_alike(all_gather(std::hash<std::string>()(system_identity())));
}

bool Team::allows_threads() const {
  return transport_->allows_threads();
}

Team Team::split(int color, int key) const {
  check_revoked();
  return {transport_->split(color, key), engine_, engine_->rank()};
}

void Team::barrier() const {
  check_revoked();
  transport_->barrier();
}

void Team::poll() const {
  engine_->progress();
  check_revoked();
}

void Team::revoke(std::string_view why) const noexcept {
  calls_->revoke(why, transport_->completed());
}

void Team::check_revoked() const {
  calls_->revocation()->check();
}

/// The exception that is being handled ends a collective call.
void Team::revoke_for_current() const {
  try {
    throw;
  } catch (const PeerFailure&) {
    throw;  // which the other ranks notice by themselves; MPI is asked for nothing any more
  } catch (const TeamFailure& failure) {
    if (!failure.is_agreed()) {
      revoke(failure.what());  // of a team that this call has made
    }
    throw;
  } catch (const Error& error) {
    engine_->check_peers_now();
    revoke(fmt::format("rank {}: {}", rank_, error.what()));
  } catch (const std::bad_alloc&) {
    revoke(fmt::format("rank {} has run out of memory", rank_));
  } catch (const std::exception& error) {
    revoke(fmt::format("rank {}: {}", rank_, error.what()));
    throw;
  } catch (...) {
    revoke(fmt::format("rank {} has thrown what is no exception of the standard library's kind", rank_));
    throw;
  }
  check_revoked();
  throw Error("a revoked team is not revoked");
}

void Team::all_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) const {
  check_revoked();
  transport_->all_gather(mine.data(), mine.size(), all.data());
}

void Team::agree(std::string_view failure) const {
  check_revoked();
  throw_if_any_failed(*transport_, failure);
}

void Team::agree_on(std::string_view what, std::string_view text) const {
  const auto hashes = all_gather(std::hash<std::string_view>()(text));
  if (std::ranges::count(hashes, hashes.front()) == std::ssize(hashes)) {
    return;
  }
  std::array<char, 1024> mine{};
  text.copy(mine.data(), mine.size() - 1);
  const auto all = all_gather(mine);
  const auto different = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other != all.front(); });
  if (different != all.end()) {
    throw TeamFailure(fmt::format("the ranks differ in their {}: rank 0 has '{}', rank {} has '{}'; give all ranks the "
                                  "same",
                                  what, all.front().data(), different - all.begin(), different->data()),
                      true);
  }
}

void Team::require_memory(std::string_view what, std::uint64_t bytes, std::uint64_t budget_bytes) const {
  struct Want {
    std::size_t node;  // a hash of its name
    std::uint64_t bytes;
  };
  std::array<char, 256> node{};
  gethostname(node.data(), node.size() - 1);
  const Want mine{.node = std::hash<std::string_view>()(node.data()), .bytes = bytes};
  std::uint64_t wanted = 0;
  for (const Want& want : all_gather(mine)) {
    const std::uint64_t added = want.node == mine.node ? want.bytes : 0;
    wanted = added > std::numeric_limits<std::uint64_t>::max() - wanted ? std::numeric_limits<std::uint64_t>::max()
                                                                        : wanted + added;
  }
  const std::uint64_t has = budget_bytes > 0 ? budget_bytes : available_memory_bytes();
  agree(wanted <= has ? ""
                      : fmt::format("{} wants {} of memory on {}, which has {}: take a smaller size, single precision "
                                    "or more nodes",
                                    what, format_bytes(wanted), node.data(), format_bytes(has)));
}

GridTeams split_grid(const Team& team, int rows, int columns) {
  team.agree(rows < 1 || columns < 1 || static_cast<std::int64_t>(rows) * columns != team.size()
                 ? fmt::format("a grid of {} x {} ranks for a team of {}: the product must be the team's size", rows,
                               columns, team.size())
                 : "");
  team.agree_on("grid of ranks", fmt::format("{} x {}", rows, columns));
  const int row = team.rank() / columns;
  const int column = team.rank() % columns;
  return {.row = team.split(row, column), .column = team.split(column, row)};
}

Team world_alone() {
  return Team(make_alone_transport());
}

void run_world(int ranks, const std::function<void(Team&)>& body) {
  run_thread_ranks(ranks, [&](std::unique_ptr<Transport> transport) {
    Team team(std::move(transport));
    body(team);
  });
}

#if PENSTOCK_HAS_MPI
Team world_of(MPI_Comm comm, const Reach& reach) {
  return Team(make_mpi_transport(comm, reach));
}
#endif

}  // namespace penstock::gas
