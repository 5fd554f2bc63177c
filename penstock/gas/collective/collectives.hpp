// Collective calls of a team that are begun and waited for: barrier, broadcast, reduce, gather, exchange. Included by
// gas.hpp.
//
//     Event done = start_exchange(team, mine, segment.local_as<double>());
//     ... compute; done.test() now and then moves it on ...
//     done.wait();
//
// For all of them:
// - Every rank of the team makes the same calls in the same order. Many may be under way at once, on one team and on
//   several; each is done when its event is, in any order.
// - They move on while a rank waits in any call of this module, tests an event, or polls.
// - What is named must stay, and must not be touched, until the event is done; but what is only read may be read.
// - Memory that is received into and lies in a `Segment`, of whichever team, is written by the peers of this node
//   directly: once. Other memory is reached through queues, which copies twice.
// - Where arguments of a rank cannot be used, and where messages show that ranks differ in a call, its root or its
//   lengths, the event throws Error on every rank that is not done with it. Of an exchange both ranks of a pair see
//   whether they differ. Ranks that all wait for one another in different calls wait for ever. The team is of use as
//   before; once it has been revoked (see Team), the calls throw.
// - The calls without `start_` wait; what they throw comes when they have been given up.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "penstock/gas/core/event.hpp"
#include "penstock/layout/layout.hpp"

namespace penstock::gas {

class Team;

template <class T>
concept Number =
    std::is_arithmetic_v<T> || std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// What numbers are reduced by. Others are types like these, of associative and commutative operations.
struct Sum {
  template <Number T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Product {
  template <Number T>
  T operator()(T a, T b) const {
    return static_cast<T>(a * b);
  }
};
struct Minimum {
  template <class T>
  requires std::is_arithmetic_v<T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Maximum {
  template <class T>
  requires std::is_arithmetic_v<T> T operator()(T a, T b) const { return a < b ? b : a; }
};
struct BitAnd {
  template <std::integral T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <std::integral T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <std::integral T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

/// An operation without state that makes one T of two.
template <class Operation, class T>
concept Reduces = std::is_empty_v<Operation> && std::is_default_constructible_v<Operation> &&
                      std::is_trivially_copyable_v<T> && sizeof(T) <= 4096 &&
                  std::is_invocable_r_v<T, const Operation&, T, T>;

/// A reduction of elements as bytes: `into` becomes operation(left, right), element by element, and is one of the two.
struct Combination {
  std::size_t element_bytes;
  void (*combine)(const std::byte* left, const std::byte* right, std::byte* into, std::size_t elements);
};

template <class T, Reduces<T> Operation>
constexpr Combination combination_of() {
  return {sizeof(T), [](const std::byte* left, const std::byte* right, std::byte* into, std::size_t elements) {
            for (std::size_t i = 0; i < elements; ++i) {
              T a;
              T b;
              std::memcpy(&a, left + i * sizeof(T), sizeof(T));
              std::memcpy(&b, right + i * sizeof(T), sizeof(T));
              const T c = Operation{}(a, b);
              std::memcpy(into + i * sizeof(T), &c, sizeof(T));
            }
          }};
}

/// Done on a rank when every rank has begun it.
Event start_barrier(const Team& team);

Event start_broadcast_bytes(const Team& team, std::span<std::byte> data, int root);
/// The root's data goes to every rank.
template <class T>
Event start_broadcast(const Team& team, std::span<T> data, int root) {
  return start_broadcast_bytes(team, std::as_writable_bytes(data), root);
}
template <class T>
void broadcast(const Team& team, std::span<T> data, int root) {
  start_broadcast(team, data, root).wait_or_abandon();
}

Event start_reduce_bytes(const Team& team, std::span<const std::byte> mine, std::span<std::byte> result, int root,
                         const Combination& combination);
/// On the root, element i of `result` becomes what element i of every rank's `mine` make together; elsewhere `result`
/// is not looked at. The order of operations depends on the number of ranks, the elements and the root alone. `result`
/// may be `mine`.
template <class T, Reduces<T> Operation>
Event start_reduce(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> result,
                   Operation /*operation*/, int root) {
  return start_reduce_bytes(team, std::as_bytes(mine), std::as_writable_bytes(result), root,
                            combination_of<T, Operation>());
}
template <class T, Reduces<T> Operation>
void reduce(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> result, Operation operation,
            int root) {
  start_reduce(team, mine, result, operation, root).wait_or_abandon();
}

Event start_all_reduce_bytes(const Team& team, std::span<const std::byte> mine, std::span<std::byte> result,
                             const Combination& combination);
/// The same with the result on every rank, equal to the last bit.
template <class T, Reduces<T> Operation>
Event start_all_reduce(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> result,
                       Operation /*operation*/) {
  return start_all_reduce_bytes(team, std::as_bytes(mine), std::as_writable_bytes(result),
                                combination_of<T, Operation>());
}
template <class T, Reduces<T> Operation>
void all_reduce(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> result,
                Operation operation) {
  start_all_reduce(team, mine, result, operation).wait_or_abandon();
}

Event start_gather_bytes(const Team& team, std::span<const std::byte> mine, std::span<std::byte> all, int root);
/// On the root, `all` becomes every rank's `mine`, of equal length, in order of rank; elsewhere it is not looked at.
template <class T>
Event start_gather(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> all, int root) {
  return start_gather_bytes(team, std::as_bytes(mine), std::as_writable_bytes(all), root);
}
template <class T>
void gather(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> all, int root) {
  start_gather(team, mine, all, root).wait_or_abandon();
}

Event start_all_gather_bytes(const Team& team, std::span<const std::byte> mine, std::span<std::byte> all);
/// The same on every rank.
template <class T>
Event start_all_gather(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> all) {
  return start_all_gather_bytes(team, std::as_bytes(mine), std::as_writable_bytes(all));
}
template <class T>
void all_gather(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> all) {
  start_all_gather(team, mine, all).wait_or_abandon();
}

/// What one rank gives to another in an exchange: elements in a row, or what a layout names around an origin. Peers of
/// this node write what they give straight to its place.
struct SendBlock {
  SendBlock() = default;
  template <class T>
  SendBlock(std::span<T> elements)  // NOLINT(google-explicit-constructor): a block is a span with more
      : data(std::as_bytes(elements).data()),
        layout(layout::Layout::contiguous(static_cast<std::int64_t>(elements.size_bytes()))) {}
  SendBlock(const std::byte* origin, layout::Layout named) : data(origin), layout(std::move(named)) {}

  const std::byte* data = nullptr;
  layout::Layout layout;
};

/// Where it takes what another gives. No byte of a layout may be named twice.
struct ReceiveBlock {
  ReceiveBlock() = default;
  template <class T>
  ReceiveBlock(std::span<T> elements)  // NOLINT(google-explicit-constructor): a block is a span with more
      : data(std::as_writable_bytes(elements).data()),
        layout(layout::Layout::contiguous(static_cast<std::int64_t>(elements.size_bytes()))) {}
  ReceiveBlock(std::byte* origin, layout::Layout named) : data(origin), layout(std::move(named)) {}

  std::byte* data = nullptr;
  layout::Layout layout;
};

/// Every rank gives every rank a block, itself too: block k of `send` goes to rank k, and block k of `receive` takes
/// what rank k gives, byte after byte; so the two are equally long. Blocks of no bytes are blocks as well.
Event start_exchange(const Team& team, std::span<const SendBlock> send, std::span<const ReceiveBlock> receive);
inline void exchange(const Team& team, std::span<const SendBlock> send, std::span<const ReceiveBlock> receive) {
  start_exchange(team, send, receive).wait_or_abandon();
}

Event start_exchange_bytes(const Team& team, std::span<const std::byte> send, std::span<std::byte> receive);
/// The same with all blocks of one length, in order of rank in both.
template <class T>
Event start_exchange(const Team& team, std::type_identity_t<std::span<const T>> send, std::span<T> receive) {
  return start_exchange_bytes(team, std::as_bytes(send), std::as_writable_bytes(receive));
}
template <class T>
void exchange(const Team& team, std::type_identity_t<std::span<const T>> send, std::span<T> receive) {
  start_exchange(team, send, receive).wait_or_abandon();
}

}  // namespace penstock::gas
