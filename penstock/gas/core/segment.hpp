// Memory that peers read and write, and signals that tell of it: puts, gets, atomic operations. Included by gas.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "penstock/gas/core/event.hpp"
#include "penstock/gas/core/team.hpp"
#include "penstock/layout/layout.hpp"

namespace penstock::gas {

/// Where a T lies in a segment: `offset` bytes into the part of `rank`. Arithmetic is in elements.
template <class T = std::byte>
struct Pointer {
  int rank = 0;
  std::size_t offset = 0;

  Pointer operator+(std::size_t elements) const noexcept { return {rank, offset + elements * sizeof(T)}; }
  bool operator==(const Pointer&) const = default;
};

/// What atomic operations work on.
template <class T>
concept AtomicWord = std::integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

/// A put that was begun. `source` is done when the data may be changed, `remote` when it is in the peer's memory.
struct [[nodiscard]] Put {
  Event source;
  Event remote;

  /// Returns when it is in the peer's memory; what it throws comes when the put has been given up.
  void wait_or_abandon();
};

/// Memory of every rank of a team that its peers read and write, with signals that tell of arrivals.
///
/// Movable, not copyable. The memory is page-aligned, zeroed, touched, and in huge pages as far as the system gives
/// them (whole ones of 2 MiB). Signals are 64-bit counters that start at 0. Peers of the same node are reached by loads
/// and stores, the others by what their network offers: puts and gets of its own, or messages, which they serve while
/// they wait or poll. Transfers to one rank need not be done in the order in which they were begun. All calls that name
/// memory or a signal which the peer has not throw Error, in release builds as well, and nothing is moved; the message
/// tells the addresses on both sides, of the peer's those in its own process.
///
/// What waits throws Error where the team has been revoked (see Team).
///
/// Not collective to destroy: peers must be done with this rank's part (a barrier after the end of their puts and
/// gets).
class Segment {
 public:
  /// Collective: `bytes` bytes (which may differ between ranks) and `signals` signals on each rank. The team must
  /// outlive the segment. Throws Error on every rank where one cannot have its memory.
  Segment(const Team& team, std::size_t bytes, std::size_t signals);
  ~Segment();
  Segment(Segment&&) noexcept;
  Segment& operator=(Segment&&) noexcept;

  /// This rank's part.
  std::span<std::byte> local() const noexcept;
  /// This rank's part as elements, as many as are whole.
  template <class T>
  std::span<T> local_as() const noexcept {
    return {reinterpret_cast<T*>(local().data()), local().size() / sizeof(T)};
  }

  /// How many bytes of this rank's part lie in huge pages at present. Asks the system, which takes a millisecond.
  std::size_t bytes_in_huge_pages() const;

  /// How many bytes `peer`'s part has; throws Error where the team has no such rank.
  std::size_t bytes_of(int peer) const;

  /// Where `peer`'s part is mapped in this process, or nullptr where it is reached through a network; throws Error
  /// where the team has no such rank.
  std::byte* address_at(int peer) const;

  /// Writes `data` to the peer's memory. Returns when it is there. Through a network, short puts that are started in a
  /// row may travel together: the last of them leave when the rank next waits, tests, polls or sends that peer more.
  template <class T>
  void put(Pointer<T> to, std::type_identity_t<std::span<const T>> data) {
    start_put(to, data).wait_or_abandon();
  }
  template <class T>
  Put start_put(Pointer<T> to, std::type_identity_t<std::span<const T>> data) {
    return start_put_bytes(to.rank, to.offset, std::as_bytes(data), {});
  }

  /// Writes `data` to the peer's memory, then adds one to its signal `signal`: a rank that sees the signal sees the
  /// data. Returns when `data` may be changed again.
  template <class T>
  void put_signal(Pointer<T> to, std::type_identity_t<std::span<const T>> data, std::size_t signal) {
    send_put_bytes(to.rank, to.offset, std::as_bytes(data), {.signal = signal}).wait_or_abandon();
  }
  template <class T>
  Put start_put_signal(Pointer<T> to, std::type_identity_t<std::span<const T>> data, std::size_t signal) {
    return start_put_bytes(to.rank, to.offset, std::as_bytes(data), {.signal = signal});
  }

  /// The same, but that the signal becomes `value`, at least 1, for signals that one rank alone changes: networks that
  /// put in order do that with no help of code at the peer.
  template <class T>
  void put_set(Pointer<T> to, std::type_identity_t<std::span<const T>> data, std::size_t signal, std::uint64_t value) {
    send_put_bytes(to.rank, to.offset, std::as_bytes(data), {.signal = signal, .value = value}).wait_or_abandon();
  }

  /// Reads the peer's memory into `data`. Returns when it is there.
  template <class T>
  void get(Pointer<T> from, std::type_identity_t<std::span<T>> data) {
    start_get(from, data).wait_or_abandon();
  }
  template <class T>
  Event start_get(Pointer<T> from, std::type_identity_t<std::span<T>> data) {
    return start_get_bytes(from.rank, from.offset, std::as_writable_bytes(data));
  }

  /// The same between layouts of equally many bytes: byte k of `local`, whose origin is at `data`, goes to byte k of
  /// `remote`, whose origin is at `to`; and with get the other way. Of the layout that is written, no byte may be named
  /// twice. The movers are compiled at the first use and kept.
  Put start_put(Pointer<> to, const layout::Layout& remote, const std::byte* data, const layout::Layout& local);
  Put start_put_signal(Pointer<> to, const layout::Layout& remote, const std::byte* data, const layout::Layout& local,
                       std::size_t signal);
  Event start_get(Pointer<> from, const layout::Layout& remote, std::byte* data, const layout::Layout& local);

  /// Adds `value` to the word and returns what was there before. Atomic with regard to all atomic operations of this
  /// module and, on a peer's own memory, to std::atomic_ref. The word is aligned to its size.
  template <AtomicWord T>
  T fetch_add(Pointer<T> word, std::type_identity_t<T> value) {
    return static_cast<T>(fetch_add_word({word.rank, word.offset}, sizeof(T), static_cast<std::uint64_t>(value)));
  }
  /// Stores `desired` where the word is `expected`; returns what was there before.
  template <AtomicWord T>
  T compare_swap(Pointer<T> word, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
    return static_cast<T>(compare_swap_word({word.rank, word.offset}, sizeof(T), static_cast<std::uint64_t>(expected),
                                            static_cast<std::uint64_t>(desired)));
  }

  /// Adds one to `peer`'s signal `signal`; what this thread stored into local peers before is seen with it.
  void notify(int peer, std::size_t signal);
  /// The same, but that the signal becomes `value`; see put_set.
  void set(int peer, std::size_t signal, std::uint64_t value);

  /// The present value of this rank's own signal; what its senders put before is visible.
  std::uint64_t value(std::size_t signal) const;

  /// Whether this rank's own signal is at least `at_least`, after serving what has arrived.
  bool test(std::size_t signal, std::uint64_t at_least) const;

  /// Waits until this rank's own signal `signal` is at least `at_least`.
  void wait(std::size_t signal, std::uint64_t at_least) const;

  /// Waits until one of this rank's own signals, 0 to at_least.size() - 1, is at least what is given for it; returns
  /// its number.
  std::size_t wait_any(std::span<const std::uint64_t> at_least) const;

 private:
  friend class ActiveMessages;
  friend class ExchangeByMessages;
  struct State;
  void make(const Team& team, std::size_t bytes, std::size_t signals);
  static constexpr std::size_t no_signal = ~std::size_t{0};
  /// What becomes of a signal behind a put.
  struct Change {
    std::size_t signal = no_signal;
    std::uint64_t value = 0;  ///< 0: one more than it was
  };

  Put start_put_bytes(int peer, std::size_t offset, std::span<const std::byte> data, const Change& change);
  /// As above, without remote completion: no message tells of it.
  Event send_put_bytes(int peer, std::size_t offset, std::span<const std::byte> data, const Change& change);
  Event start_get_bytes(int peer, std::size_t offset, std::span<std::byte> data);
  Put start_put_layout(Pointer<> to, const layout::Layout& remote, const std::byte* data, const layout::Layout& local,
                       std::size_t signal);
  std::uint64_t fetch_add_word(Pointer<> word, std::size_t bytes, std::uint64_t value);
  std::uint64_t compare_swap_word(Pointer<> word, std::size_t bytes, std::uint64_t expected, std::uint64_t desired);

  std::unique_ptr<State> state_;
};

}  // namespace penstock::gas
