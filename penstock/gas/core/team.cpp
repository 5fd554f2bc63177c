// Teams: who communicates, and how they agree.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/placement_parts.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "penstock/gas/core/revocation.hpp"
#include "penstock/gas/core/team_parts.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gas/transport/threads/threads.hpp"
#if PENSTOCK_HAS_MPI
#include "penstock/gas/transport/mpi/mpi.hpp"
#endif

namespace penstock::gas {

namespace {

/// Collective: what a team stands on over `transport`, but its placement. Peers are served from now on while the
/// transport waits.
std::unique_ptr<TeamParts> join(std::shared_ptr<Transport> transport, std::shared_ptr<Engine> engine) {
  auto parts = std::make_unique<TeamParts>();
  parts->traits = transport->traits();
  parts->traits.network = transport->are_all_local() ? std::nullopt : engine->network_traits();
  parts->calls = std::make_unique<CollectiveRegistry>(engine, transport->rank());
  transport->set_while_waiting(
      [engine = engine.get(), transport = transport.get(), revocation = parts->calls->revocation()] {
        engine->progress();
        if (transport->completed() >= revocation->completed_before()) {
          revocation->check();
        }
      });
  const CollectiveRegistry::Endpoint mine{.world_rank = engine->rank(), .calls = parts->calls->id()};
  std::vector<CollectiveRegistry::Endpoint> endpoints(index(transport->size()));
  transport->all_gather(&mine, sizeof mine, endpoints.data());
  for (const CollectiveRegistry::Endpoint& endpoint : endpoints) {
    parts->world_ranks.push_back(endpoint.world_rank);
  }
  parts->calls->set_endpoints(std::move(endpoints));
  parts->engine = std::move(engine);
  parts->transport = std::move(transport);
  return parts;
}

}  // namespace

Team make_world(std::unique_ptr<Transport> transport) {
  const std::shared_ptr<Transport> shared = std::move(transport);
  RankPlacement mine = find_rank_placement();
  while (!shared->is_local(mine.domain)) {
    ++mine.domain;
  }
  std::vector<RankPlacement> places(index(shared->size()));
  shared->all_gather(&mine, sizeof mine, places.data());
  const bool has_processors = !shared->traits().maps_memory || !outnumber_processors(places, shared->rank());
  auto parts = join(shared, std::make_shared<Engine>(shared, has_processors));
  parts->placement = placement_of(places);
  return Team(std::move(parts));
}

std::string describe_current_failure(int rank) {
  try {
    throw;
  } catch (const Error& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return fmt::format("rank {} has run out of memory", rank);
  } catch (const std::exception& error) {
    return fmt::format("rank {}: {}", rank, error.what());
  } catch (...) {
    return fmt::format("rank {} has thrown what is no exception of the standard library's kind", rank);
  }
}

Team::Team(std::unique_ptr<TeamParts> parts) noexcept
    : parts_(std::move(parts)), rank_(parts_->transport->rank()), size_(parts_->transport->size()) {}

Team::~Team() {
  if (parts_ != nullptr && parts_->calls->revocation()->is_set()) {
    parts_->transport->abandon();
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

const Placement& Team::placement() const noexcept {
  return parts_->placement;
}

const TransportTraits& Team::transport() const noexcept {
  return parts_->traits;
}

bool Team::is_local(int peer) const {
  return parts_->transport->is_local(peer);
}

bool Team::are_all_local() const {
  return parts_->transport->are_all_local();
}

int Team::world_rank(int rank) const {
  return parts_->world_ranks[index(rank)];
}

bool Team::allows_threads() const {
  return parts_->transport->allows_threads();
}

Team Team::split(int color, int key) const {
  check_revoked();
  const CollectiveSpan span("split", *parts_);
  auto parts = join(parts_->transport->split(color, key), parts_->engine);
  // Its members are some of this team's, known by their ranks in the world.
  std::unordered_map<int, int> here;
  for (int rank = 0; rank < size_; ++rank) {
    here.emplace(world_rank(rank), rank);
  }
  std::vector<int> members;
  for (const int of_world : parts->world_ranks) {
    members.push_back(here.at(of_world));
  }
  parts->placement = placement_of(parts_->placement, members);
  return Team(std::move(parts));
}

void Team::barrier() const {
  check_revoked();
  const CollectiveSpan span("barrier", *parts_);
  parts_->transport->barrier();
}

void Team::poll() const {
  parts_->engine->progress();
  check_revoked();
}

void Team::revoke(std::string_view why) const noexcept {
  parts_->calls->revoke(why, parts_->transport->completed());
}

void Team::check_revoked() const {
  parts_->calls->revocation()->check();
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
    parts_->engine->check_peers_now();
    revoke(fmt::format("rank {}: {}", rank_, error.what()));
  } catch (const std::bad_alloc&) {
    revoke(describe_current_failure(rank_));
  } catch (...) {
    revoke(describe_current_failure(rank_));
    throw;
  }
  check_revoked();
  throw Error("a revoked team is not revoked");
}

void Team::all_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) const {
  check_revoked();
  const CollectiveSpan span("all_gather", *parts_);
  parts_->transport->all_gather(mine.data(), mine.size(), all.data());
}

void Team::agree(std::string_view failure) const {
  check_revoked();
  const CollectiveSpan span("agree", *parts_);
  throw_if_any_failed(*parts_->transport, failure);
}

void Team::agree_on(std::string_view what, std::string_view text) const {
  const auto hashes = all_gather(std::hash<std::string_view>()(text));
  if (std::ranges::count(hashes, hashes.front()) == std::ssize(hashes)) {
    return;
  }
  const std::size_t bytes = largest(text.size());
  std::string mine(text);
  mine.resize(bytes);
  std::string all(bytes * index(size_), '\0');
  all_gather_bytes(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  const auto of = [&](int rank) { return std::string_view(all).substr(index(rank) * bytes, bytes); };
  const auto other = static_cast<int>(
      std::ranges::find_if(hashes, [&](std::size_t hash) { return hash != hashes.front(); }) - hashes.begin());
  // Of a long text, what lies about the first difference.
  constexpr std::size_t max_shown = 1000;
  const auto differs = std::ranges::mismatch(of(0), of(other)).in1 - of(0).begin();
  const std::size_t begin =
      bytes <= max_shown ? 0 : std::max(static_cast<std::size_t>(differs), max_shown / 2) - max_shown / 2;
  const auto shown = [&](int rank) {
    const std::string_view text_there = of(rank).substr(begin, max_shown);
    return text_there.substr(0, text_there.find('\0'));
  };
  throw TeamFailure(fmt::format("the ranks differ in their {}: rank 0 has '{}', rank {} has '{}'; give all ranks the "
                                "same",
                                what, shown(0), other, shown(other)),
                    true);
}

Team world_alone() {
  return make_world(make_alone_transport());
}

void run_world(int ranks, const std::function<void(Team&)>& body) {
  run_thread_ranks(ranks, [&](std::unique_ptr<Transport> transport) {
    Team team = make_world(std::move(transport));
    body(team);
  });
}

#if PENSTOCK_HAS_MPI
Team world_of(MPI_Comm comm, const Reach& reach) {
  return make_world(make_mpi_transport(comm, reach));
}

std::function<void(const std::function<void()>&)> mpi_lock_of(const Team& team) {
  return [transport = team.parts().transport.get()](const std::function<void()>& work) {
    transport->under_mpi_lock(work);
  };
}
#endif

}  // namespace penstock::gas
