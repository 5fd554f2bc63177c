// Events, by which a program tests and waits for operations that it has begun. Included by gas.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#pragma GCC visibility push(default)

namespace penstock::gas {

class Engine;
class Operation;
class Revocation;

/// An operation that was begun: a put, a get, a message, a collective call. Movable and copyable; copies stand for the
/// same operation.
///
/// Destroying an event does not end its operation: the memory that the operation was given must stay until the
/// operation is done or abandoned. An event that is not done must not be tested after its world has ended.
class [[nodiscard]] Event {
 public:
  /// An event that is done.
  Event() = default;
  /// `revocation` belongs to the team whose ranks the operation needs; nullptr where the operation itself fails when
  /// that team is revoked. `peer`: the rank of the world that carries the operation out; -1 where that is no one rank.
  Event(Engine& engine, std::shared_ptr<Operation> operation, std::shared_ptr<const Revocation> revocation = nullptr,
        int peer = -1);

  /// Whether the operation is done; makes progress where it is not. Throws Error when a peer has failed and when the
  /// operation's team has been revoked. Throws the Error of an operation that has failed, once; the event is done then.
  bool test();
  /// Returns when the operation is done, making progress meanwhile; throws as `test` does.
  void wait();
  /// Abandons the operation, done or not: when this returns, the memory that the operation was given is the caller's
  /// again. An abandoned collective call fails on every rank. A transfer that a network already moves is waited for,
  /// but for no longer than two seconds, as the peer may have died.
  void abandon() noexcept;
  /// As `wait`, but abandons the operation before it throws.
  void wait_or_abandon();

 private:
  friend Event all_of(std::span<const Event> events);
  bool is_done();

  Engine* engine_ = nullptr;
  std::shared_ptr<Operation> operation_;  // none where it is done
  std::shared_ptr<const Revocation> revocation_;
  int peer_ = -1;
};

/// An event that is done when all of `events` are. All must belong to one world.
Event all_of(std::span<const Event> events);

/// Returns when all are done.
void wait_all(std::span<Event> events);

/// Waits until one of `events` is done and returns its number. Throws as `test` does, and Error where there are no
/// events.
std::size_t wait_any(std::span<Event> events);

}  // namespace penstock::gas

#pragma GCC visibility pop
