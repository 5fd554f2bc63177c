// How a program learns that what it began is done. Included by gas.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace penstock::gas {

class Engine;
class Operation;
class Revocation;

/// Something that was begun: a put, a get, a message, a collective call. Movable and copyable; copies tell of the same.
/// Letting one go does not end what it tells of: the memory that was named must stay until that is done, or has been
/// given up. What is not done must not be asked after its world has ended.
class [[nodiscard]] Event {
 public:
  /// Of what is done already.
  Event() = default;
  /// `revocation` is that of the team whose ranks it needs; none where it fails by itself when that is revoked.
  Event(Engine& engine, std::shared_ptr<Operation> operation, std::shared_ptr<const Revocation> revocation = nullptr);

  /// Whether it is done. Makes progress; throws Error when a peer has failed, where its team has been revoked, and once
  /// where it has failed itself.
  bool test();
  /// Returns when it is done; throws as `test` does.
  void wait();
  /// Ends it, done or not: the memory that was named may go when this returns. A collective call then fails on every
  /// rank. What a network is already moving is waited for, but no longer than two seconds, as its peer may have died.
  void abandon() noexcept;
  /// As `wait`; what it throws comes when the operation has been given up.
  void wait_or_abandon();

 private:
  friend Event all_of(std::span<const Event> events);
  bool is_done();

  Engine* engine_ = nullptr;
  std::shared_ptr<Operation> operation_;  // none where it is done
  std::shared_ptr<const Revocation> revocation_;
};

/// What is done when all of these are, which are of one world.
Event all_of(std::span<const Event> events);

/// Returns when all are done.
void wait_all(std::span<Event> events);

/// Returns the number of one that is done, when one is; throws Error where there are none.
std::size_t wait_any(std::span<Event> events);

}  // namespace penstock::gas
