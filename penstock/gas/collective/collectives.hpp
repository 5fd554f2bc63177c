// Collective calls of a team, split-phase or blocking: barrier, broadcast, reduce, gather, exchange. Included by
// gas.hpp.
//
//     Event done = start_exchange(team, mine, segment.local_as<double>());
//     ... compute; done.test() now and then moves it on ...
//     done.wait();
//
// For all of them:
// - Every rank of the team makes the same calls in the same order. Many calls may be under way at once, on one team and
//   on several; they may be done in any order.
// - A call advances while its ranks wait in any call of this module, test an event, or poll.
// - The memory that a call is given must stay until the event is done. Until then the program must not write it, and
//   must not read what the call writes.
// - Between ranks whose memory is mapped, messages of up to 4 KiB go through queues, which copies twice. Longer ones
//   are copied once where the data or their place lie in a `Segment` of any team that both ranks share; so are
//   contiguous data of 128 KiB and more where the system lets ranks read one another's memory. Others go through
//   queues.
// - A rank whose arguments cannot be used throws Error from the call itself, and the events of the other ranks throw
//   it. Where messages show that ranks differ in the call, its root or its lengths, the event throws Error on every
//   rank that is not done with the call; in an exchange both ranks of a pair notice a different length. Ranks that all
//   wait for one another in different calls wait for ever. After such an Error the team can be used as before. Once it
//   has been revoked (see Team), the calls throw Error.
// - The calls without `start_` block; where they throw, the operation is abandoned first.
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

#pragma GCC visibility push(default)

namespace penstock::gas {

class Team;

template <class T>
concept Number =
    std::is_arithmetic_v<T> || std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// Operations of a reduction. A program may give types of its own, whose operation is associative and commutative.
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

/// A stateless operation that combines two values of T into one.
template <class Operation, class T>
concept Reduces = std::is_empty_v<Operation> && std::is_default_constructible_v<Operation> &&
                      std::is_trivially_copyable_v<T> && sizeof(T) <= 4096 &&
                  std::is_invocable_r_v<T, const Operation&, T, T>;

/// A reduction of elements as bytes, element by element: `into` becomes operation(left, right). `into` is `left` or
/// `right`.
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

/// Begins a barrier: the event is done when every rank has begun it.
Event start_barrier(const Team& team);

Event start_broadcast_bytes(const Team& team, std::span<std::byte> data, int root);
/// Copies the root's `data` to every rank's `data`, which has the same length.
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
/// Reduces to the root: element i of `result` becomes the combination of element i of every rank's `mine`. On other
/// ranks `result` is not used. The order of operations depends on the number of ranks, the number of elements and the
/// root alone. `result` may be `mine`.
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
/// As start_reduce, with the result on every rank, equal to the last bit.
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
/// Gathers on the root: `all` becomes every rank's `mine`, of equal length, in order of rank. On other ranks `all` is
/// not used.
template <class T>
Event start_gather(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> all, int root) {
  return start_gather_bytes(team, std::as_bytes(mine), std::as_writable_bytes(all), root);
}
template <class T>
void gather(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> all, int root) {
  start_gather(team, mine, all, root).wait_or_abandon();
}

Event start_all_gather_bytes(const Team& team, std::span<const std::byte> mine, std::span<std::byte> all);
/// As start_gather, on every rank.
template <class T>
Event start_all_gather(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> all) {
  return start_all_gather_bytes(team, std::as_bytes(mine), std::as_writable_bytes(all));
}
template <class T>
void all_gather(const Team& team, std::type_identity_t<std::span<const T>> mine, std::span<T> all) {
  start_all_gather(team, mine, all).wait_or_abandon();
}

/// The data that one rank sends to another in an exchange: contiguous elements, or what a layout names around an
/// origin.
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

/// The place that a rank receives another's data into. No byte of a layout may be named twice.
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

/// Every rank sends a block to every rank, itself included: block k of `send` goes to rank k, and block k of `receive`
/// takes what rank k sends, byte after byte. The two must be equally long. Blocks of no bytes must be given as well.
Event start_exchange(const Team& team, std::span<const SendBlock> send, std::span<const ReceiveBlock> receive);
inline void exchange(const Team& team, std::span<const SendBlock> send, std::span<const ReceiveBlock> receive) {
  start_exchange(team, send, receive).wait_or_abandon();
}

Event start_exchange_bytes(const Team& team, std::span<const std::byte> send, std::span<std::byte> receive);
/// As the exchange of blocks, with all blocks of one length, in order of rank in `send` and in `receive`.
template <class T>
Event start_exchange(const Team& team, std::type_identity_t<std::span<const T>> send, std::span<T> receive) {
  return start_exchange_bytes(team, std::as_bytes(send), std::as_writable_bytes(receive));
}
template <class T>
void exchange(const Team& team, std::type_identity_t<std::span<const T>> send, std::span<T> receive) {
  start_exchange(team, send, receive).wait_or_abandon();
}

}  // namespace penstock::gas

#pragma GCC visibility pop
