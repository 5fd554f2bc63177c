// A collective call that is under way on one rank: walks its schedule as messages arrive. Private to the module.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/gas/collective/collective_message.hpp"
#include "penstock/gas/collective/schedule.hpp"
#include "penstock/gas/core/operation.hpp"
#include "penstock/gas/transport/shm/node_memory.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::gas {

class CollectiveRegistry;

/// One object serves many calls, one after the other, so that a short call takes no memory from the system. All but
/// is_done() and check() are called with the engine's progress lock held.
class CollectiveOp final : public Operation {
 public:
  explicit CollectiveOp(CollectiveRegistry& team) : team_(team) {}

  /// Becomes call `number`, which has not begun yet; its schedule is to be filled in, and then `prepare` called.
  Schedule& renew(std::uint64_t number);
  void prepare();
  /// Whether it has so little memory that it may be kept for later calls.
  bool is_small() const noexcept;

  std::uint64_t number() const noexcept { return number_; }
  bool is_done() const noexcept override { return is_done_.load(std::memory_order_acquire); }
  void check() const override;
  /// Fails the call on every rank.
  void abandon() noexcept override;
  Awaited awaited() const override;

  /// Does what can be done now.
  void advance();
  /// Whether nothing can be done until a message comes.
  bool is_waiting() const noexcept { return is_waiting_ && failure_.empty(); }
  /// Takes a message of this call; `advance` is to follow.
  void deliver(const CollectiveMessage& message, std::span<const std::byte> payload);

 private:
  /// What a step needs whose data are more than one short message.
  struct Transfer {
    const std::byte* source = nullptr;  // of a receive: where it reads the data, mapped here
    std::uint64_t offer = 0;            // the same, of the sender's memory that is in no segment
    std::uint64_t known_at = 0;         // of a receive that has read what it can: see `pull`
    NodeMemory::Offer offered;          // of a send from such memory
    std::byte* place = nullptr;         // of a send: where it can be written to directly
    std::vector<std::shared_ptr<Completion>>
        sent;                           // pieces that the network has, which may still read the caller's memory
    std::vector<std::byte> parcel;      // what was received before the step could begin
    std::optional<mover::Mover> mover;  // where a layout is
  };

  /// How far a step is.
  struct Progress {
    bool has_begun = false;
    bool is_done = false;
    bool is_offered = false;    // of a send: the receiver reads the data where they lie
    bool is_refused = false;    // of a receive: it cannot
    bool may_send = false;      // of a send: the receiver has told that it is ready
    bool has_parcel = false;    // of a receive
    std::uint32_t ordinal = 0;  // among the steps of its direction with its peer
    std::size_t moved = 0;      // bytes
    std::unique_ptr<Transfer> kept;

    Transfer& transfer() {
      if (kept == nullptr) {
        kept = std::make_unique<Transfer>();
      }
      return *kept;
    }
    /// Of a receive: whether it reads the data where they lie.
    bool is_pulling() const noexcept { return kept != nullptr && (kept->source != nullptr || kept->offer != 0); }
    bool has_mover() const noexcept { return kept != nullptr && kept->mover.has_value(); }
  };

  /// A step that exchanges messages: by direction, peer and ordinal.
  struct Addressed {
    std::uint64_t key;
    std::uint32_t step;
  };
  static std::uint64_t key_of(bool is_receive, int peer, std::uint32_t ordinal) noexcept {
    return static_cast<std::uint64_t>(is_receive) << 63 | static_cast<std::uint64_t>(peer) << 32 | ordinal;
  }

  int world_rank_of(int peer) const;
  bool is_local(int peer) const;
  bool waits_for_ready(const Step& step) const;
  bool may_begin(std::size_t step) const noexcept;
  bool needs_turn(std::size_t step) const;
  bool advance_once(std::size_t& budget);
  void pass_done() noexcept;
  void put_in_order();
  void run(std::size_t step, std::size_t& budget);
  void run_send(std::size_t step, std::size_t& budget);
  void begin_receive(std::size_t step);
  void run_copy(std::size_t step, std::size_t& budget);
  std::vector<std::byte> name_place(CollectiveMessage& message, const std::byte* data, std::size_t bytes,
                                    const layout::Layout* layout) const;
  std::byte* named_place(const CollectiveMessage& message) const;
  bool offer(std::size_t step);
  bool offer_unmapped(std::size_t step);
  void pull(std::size_t step, std::size_t& budget);
  bool take_unmapped(std::size_t step, std::size_t bytes);
  void send_pieces(std::size_t step);
  void send_through_network(std::size_t step);
  void take(std::size_t step, std::size_t offset, std::span<const std::byte> data);
  void take_offer(std::size_t step, const CollectiveMessage& message, std::span<const std::byte> payload);
  void take_ready(std::size_t step, const CollectiveMessage& message, std::span<const std::byte> payload);
  void take_data(std::size_t step, const CollectiveMessage& message, std::span<const std::byte> payload);
  void move(std::size_t step, const std::byte* from, std::byte* to, std::size_t& budget);
  void send(std::size_t step, Phase phase, std::span<const std::byte> payload, std::uint64_t offset = 0);
  CollectiveMessage message_of(std::size_t step, Phase phase) const;
  std::size_t find(bool is_receive, int peer, std::uint32_t ordinal) const noexcept;
  bool agrees(const CollectiveMessage& message, std::size_t step);
  void fail(const std::string& why);
  void tell_readers();
  void finish_if_resolved();
  bool has_left_memory();

  CollectiveRegistry& team_;
  std::uint64_t number_ = 0;
  Schedule schedule_;
  std::vector<Progress> progress_;    // by step; more than there are, where an earlier call had more
  std::vector<std::uint64_t> shape_;  // of the schedule for which the order and the ordinals hold
  std::vector<Addressed> by_peer_;    // in order of their keys
  std::size_t first_ = 0;             // the first that is not done
  bool is_waiting_ = false;           // no step that is under way goes on without a message
  bool has_held_back_ = false;        // some step is not under way
  std::string failure_;               // not empty once it has failed
  std::atomic<bool> is_done_ = false;
};

/// Tells a rank of the team that call `number` has failed, or that the team has been revoked. With the engine's turn
/// held.
void send_failure_to(CollectiveRegistry& team, int peer, Phase phase, std::uint64_t number, CollectiveKind kind,
                     std::string_view why);
/// The same to every other rank.
void send_failure(CollectiveRegistry& team, Phase phase, std::uint64_t number, CollectiveKind kind,
                  std::string_view why);

}  // namespace penstock::gas
