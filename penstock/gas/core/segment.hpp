// Segments: memory that peers read and write by puts, gets and atomic operations, with signals. Included by gas.hpp.
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

#pragma GCC visibility push(default)

namespace penstock::gas {

/// The place of a T in a segment: `offset` bytes into the part of `rank`. Arithmetic is in elements.
template <class T = std::byte>
struct Pointer {
  int rank = 0;
  std::size_t offset = 0;

  Pointer operator+(std::size_t elements) const noexcept { return {rank, offset + elements * sizeof(T)}; }
  bool operator==(const Pointer&) const = default;
};

/// The types of atomic operations: integers of 4 or 8 bytes.
template <class T>
concept AtomicWord = std::integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

/// A put that was begun. `source` is done when the data may be changed, `remote` when they are in the peer's memory.
struct [[nodiscard]] Put {
  Event source;
  Event remote;

  /// Returns when the data are in the peer's memory. Where that throws, the put is abandoned first.
  void wait_or_abandon();
};

/// Memory of every rank of a team that its peers read and write, with signals that tell of arrivals.
///
/// Movable, not copyable. The memory is page-aligned, zeroed and touched, and lies in huge pages (whole ones of 2 MiB)
/// as far as the system gives them. Signals are 64-bit counters that start at 0. Peers whose memory is mapped are
/// reached by loads and stores. Other peers are reached through the network: by its own puts and gets, or by messages,
/// which a peer serves while it waits or polls. Transfers to one rank may be done in another order than they were
/// begun.
///
/// A call that names memory or a signal which the peer has not throws Error, in release builds as well, and moves
/// nothing. The sentence gives the addresses on both sides, each in the address space of its own process. Calls that
/// wait throw Error where the team has been revoked (see Team).
///
/// Destruction is not collective: the peers must be done with this rank's part (a barrier after the end of their puts
/// and gets).
class Segment {
 public:
  /// Collective: `bytes` bytes and `signals` signals on each rank; both may differ between ranks. The team must outlive
  /// the segment. Throws Error on every rank where one rank cannot have its memory.
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

  /// The length of `peer`'s part in bytes. Throws Error where the team has no such rank.
  std::size_t bytes_of(int peer) const;

  /// The address of `peer`'s part in this process; nullptr where that part is not mapped here. Throws Error where the
  /// team has no such rank.
  std::byte* address_at(int peer) const;

  /// Writes `data` to the peer's memory. `put` returns when the data are there; `start_put` only begins. Short puts
  /// through a network that are begun in a row may share a packet: the last ones leave when the rank next waits, tests,
  /// polls or sends more to that peer.
  template <class T>
  void put(Pointer<T> to, std::type_identity_t<std::span<const T>> data) {
    start_put(to, data).wait_or_abandon();
  }
  template <class T>
  Put start_put(Pointer<T> to, std::type_identity_t<std::span<const T>> data) {
    return start_put_bytes(to.rank, to.offset, std::as_bytes(data), {});
  }

  /// Writes `data` to the peer's memory, then adds one to the peer's signal `signal`: a rank that sees the signal sees
  /// the data. `put_signal` returns when `data` may be changed again.
  template <class T>
  void put_signal(Pointer<T> to, std::type_identity_t<std::span<const T>> data, std::size_t signal) {
    send_put_bytes(to.rank, to.offset, std::as_bytes(data), {.signal = signal}).wait_or_abandon();
  }
  template <class T>
  Put start_put_signal(Pointer<T> to, std::type_identity_t<std::span<const T>> data, std::size_t signal) {
    return start_put_bytes(to.rank, to.offset, std::as_bytes(data), {.signal = signal});
  }

  /// As `put_signal`, but sets the signal to `value`, at least 1. Use it for signals that one rank alone changes:
  /// networks that keep order then need no code to run at the peer.
  template <class T>
  void put_set(Pointer<T> to, std::type_identity_t<std::span<const T>> data, std::size_t signal, std::uint64_t value) {
    send_put_bytes(to.rank, to.offset, std::as_bytes(data), {.signal = signal, .value = value}).wait_or_abandon();
  }

  /// Reads the peer's memory into `data`. `get` returns when the data are here; `start_get` only begins.
  template <class T>
  void get(Pointer<T> from, std::type_identity_t<std::span<T>> data) {
    start_get(from, data).wait_or_abandon();
  }
  template <class T>
  Event start_get(Pointer<T> from, std::type_identity_t<std::span<T>> data) {
    return start_get_bytes(from.rank, from.offset, std::as_writable_bytes(data));
  }

  /// Puts and gets between two layouts of equally many bytes (else Error). A put moves byte k of `local`, whose origin
  /// is `data`, to byte k of `remote`, whose origin is `to`; a get moves the other way. The layout that is written must
  /// not name a byte twice. Movers are compiled at the first use and kept.
  Put start_put(Pointer<> to, const layout::Layout& remote, const std::byte* data, const layout::Layout& local);
  Put start_put_signal(Pointer<> to, const layout::Layout& remote, const std::byte* data, const layout::Layout& local,
                       std::size_t signal);
  Event start_get(Pointer<> from, const layout::Layout& remote, std::byte* data, const layout::Layout& local);

  /// Adds `value` to the word and returns the word's value from before; blocking. Atomic with respect to all atomic
  /// operations of this module and, on a peer's own memory, to std::atomic_ref. The word must be aligned to its size
  /// (else Error).
  template <AtomicWord T>
  T fetch_add(Pointer<T> word, std::type_identity_t<T> value) {
    return static_cast<T>(fetch_add_word({word.rank, word.offset}, sizeof(T), static_cast<std::uint64_t>(value)));
  }
  /// Stores `desired` if the word equals `expected`, and returns the word's value from before; otherwise as
  /// `fetch_add`.
  template <AtomicWord T>
  T compare_swap(Pointer<T> word, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
    return static_cast<T>(compare_swap_word({word.rank, word.offset}, sizeof(T), static_cast<std::uint64_t>(expected),
                                            static_cast<std::uint64_t>(desired)));
  }

  /// Adds one to `peer`'s signal `signal`. A peer that sees it also sees what this thread has stored before into mapped
  /// memory.
  void notify(int peer, std::size_t signal);
  /// As `notify`, but sets the signal to `value`; see put_set.
  void set(int peer, std::size_t signal, std::uint64_t value);

  /// The present value of this rank's own signal. What the senders put before they changed the signal is visible.
  std::uint64_t value(std::size_t signal) const;

  /// Whether this rank's own signal is at least `at_least`. Makes progress once where it is not at first.
  bool test(std::size_t signal, std::uint64_t at_least) const;

  /// Waits until this rank's own signal `signal` is at least `at_least`.
  void wait(std::size_t signal, std::uint64_t at_least) const;

  /// Waits until some signal i of this rank, i < at_least.size(), is at least at_least[i]; returns i. Throws Error
  /// where `at_least` is empty.
  std::size_t wait_any(std::span<const std::uint64_t> at_least) const;

 private:
  friend class ActiveMessages;
  friend class ExchangeByMessages;
  struct State;
  void make(const Team& team, std::size_t bytes, std::size_t signals);
  static constexpr std::size_t no_signal = ~std::size_t{0};
  /// The change of a signal behind a put.
  struct Change {
    std::size_t signal = no_signal;
    std::uint64_t value = 0;  ///< 0: adds one to the signal
  };

  Put start_put_bytes(int peer, std::size_t offset, std::span<const std::byte> data, const Change& change);
  /// As start_put_bytes, without remote completion: the peer acknowledges nothing.
  Event send_put_bytes(int peer, std::size_t offset, std::span<const std::byte> data, const Change& change);
  Event start_get_bytes(int peer, std::size_t offset, std::span<std::byte> data);
  Put start_put_layout(Pointer<> to, const layout::Layout& remote, const std::byte* data, const layout::Layout& local,
                       std::size_t signal);
  std::uint64_t fetch_add_word(Pointer<> word, std::size_t bytes, std::uint64_t value);
  std::uint64_t compare_swap_word(Pointer<> word, std::size_t bytes, std::uint64_t expected, std::uint64_t desired);

  std::unique_ptr<State> state_;
};

}  // namespace penstock::gas

#pragma GCC visibility pop
