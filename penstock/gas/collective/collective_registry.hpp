// The collective calls of a team that are under way on one rank. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/trace.hpp"
#include "penstock/gas/collective/collective_op.hpp"
#include "penstock/gas/collective/schedule.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/event.hpp"

namespace penstock::gas {

class Revocation;

/// Numbers the calls, brings messages to theirs, and keeps those that come before their call has begun here.
class CollectiveRegistry final : public CallInbox {
 public:
  /// How messages reach a rank's calls.
  struct Endpoint {
    int world_rank;
    std::uint32_t calls;
  };

  CollectiveRegistry(std::shared_ptr<Engine> engine, int rank);
  ~CollectiveRegistry() override;
  CollectiveRegistry(const CollectiveRegistry&) = delete;
  CollectiveRegistry& operator=(const CollectiveRegistry&) = delete;

  /// By which messages name these calls on this rank.
  std::uint32_t id() const noexcept { return id_; }
  /// Tells where the calls of every rank are; nothing may be begun before.
  void set_endpoints(std::vector<Endpoint> endpoints) { endpoints_ = std::move(endpoints); }
  std::span<const Endpoint> endpoints() const noexcept { return endpoints_; }

  /// What begins the ids of the team's events in a timeline; the same on all its ranks.
  std::uint64_t trace_id() const noexcept {
    return trace::mix({static_cast<std::uint64_t>(endpoints_.front().world_rank), endpoints_.front().calls});
  }
  /// What a timeline says of a call of this number.
  std::uint64_t trace_id(std::uint64_t number) const noexcept { return trace::mix({trace_id(), 1, number}); }

  Engine& engine() const noexcept { return *engine_; }
  int rank() const noexcept { return rank_; }
  Member member() const noexcept { return {.rank = rank_, .size = static_cast<int>(endpoints_.size())}; }

  /// Begins the next call, whose schedule `fill` fills in.
  template <class Fill>
  Event start(const Fill& fill) {
    check_revoked();
    const trace::Span span("begin a call", trace::Category::send,
                           {.id = trace::this_track() == nullptr ? 0 : trace_id(begun_ + 1)});
    std::shared_ptr<CollectiveOp> call;
    engine_->under_lock([&] {
      call = spare_call();
      fill(call->renew(begun_ + 1));
      begin(call);
    });
    return {*engine_, std::move(call)};
  }
  /// Takes part in the next call by failing it on every rank, and throws Error with `why`.
  [[noreturn]] void refuse(CollectiveKind kind, const std::string& why);

  /// See Team::revoke; `completed` is Transport::completed of this rank.
  void revoke(std::string_view why, std::uint64_t completed) noexcept;
  const std::shared_ptr<const Revocation>& revocation() const noexcept { return shown_revocation_; }

  /// Waits until `is_done()`, making progress; throws Error where the team is revoked before.
  template <class Condition>
  void wait(const Condition& is_done) const {
    engine_->wait([&] {
      if (is_done()) {
        return true;
      }
      check_revoked();
      return false;
    });
  }
  void check_revoked() const;

  void advance() override;
  void deliver(const Header& header, std::span<const std::byte> payload) override;

 private:
  struct Early {
    Header header;
    std::vector<std::byte> payload;
  };

  std::shared_ptr<CollectiveOp> spare_call();
  void begin(const std::shared_ptr<CollectiveOp>& call);
  CollectiveOp* find(std::uint64_t number) const noexcept;
  void take_revocation(std::string_view why, std::uint64_t completed);
  void drop_done();

  std::shared_ptr<Engine> engine_;  // outlives these calls wherever their team goes
  std::shared_ptr<Revocation> revocation_;
  std::shared_ptr<const Revocation> shown_revocation_;
  int rank_;
  std::uint32_t id_;
  std::vector<Endpoint> endpoints_;
  std::uint64_t begun_ = 0;
  std::vector<std::shared_ptr<CollectiveOp>> running_;  // in order of their numbers
  std::vector<std::shared_ptr<CollectiveOp>> spare_;    // done, to be used again when nobody's event is theirs any more
  std::vector<Early> early_;                            // in order of arrival
  std::vector<std::vector<std::byte>> spare_payloads_;  // of early messages
};

}  // namespace penstock::gas
