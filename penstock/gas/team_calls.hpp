// The collective calls of a team that are under way on one rank. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/gas/engine.hpp"
#include "penstock/gas/event.hpp"
#include "penstock/gas/schedule.hpp"

namespace penstock::gas {

class Call;

/// Numbers the calls, brings messages to theirs, and keeps those that come before their call has begun here.
class TeamCalls final : public CallInbox {
 public:
  /// How messages reach a rank's calls.
  struct Seat {
    int world_rank;
    std::uint32_t calls;
  };

  TeamCalls(std::shared_ptr<Engine> engine, int rank);
  ~TeamCalls() override;
  TeamCalls(const TeamCalls&) = delete;
  TeamCalls& operator=(const TeamCalls&) = delete;

  /// By which messages name these calls on this rank.
  std::uint32_t id() const noexcept { return id_; }
  /// Tells where the calls of every rank are; nothing may be begun before.
  void seat(std::vector<Seat> seats) { seats_ = std::move(seats); }
  std::span<const Seat> seats() const noexcept { return seats_; }

  Engine& engine() const noexcept { return *engine_; }
  int rank() const noexcept { return rank_; }
  Member member() const noexcept { return {.rank = rank_, .size = static_cast<int>(seats_.size())}; }

  /// Begins the next call.
  Event start(Schedule schedule);
  /// Takes part in the next call by failing it on every rank, and throws Error with `why`.
  [[noreturn]] void refuse(CallKind kind, const std::string& why);

  void advance() override;
  void deliver(const Header& header, std::span<const std::byte> payload) override;

 private:
  struct Early {
    Header header;
    std::vector<std::byte> payload;
  };

  Call* find(std::uint64_t number) const noexcept;
  void drop_done();

  std::shared_ptr<Engine> engine_;  // outlives these calls wherever their team goes
  int rank_;
  std::uint32_t id_;
  std::vector<Seat> seats_;
  std::uint64_t begun_ = 0;
  std::vector<std::shared_ptr<Call>> running_;  // in order of their numbers
  std::vector<Early> early_;                    // in order of arrival
  std::vector<std::vector<std::byte>> spare_;   // payloads of early messages, to be used again
};

}  // namespace penstock::gas
