// Transport of a factor's panels: they are put, with signals, into the buffers of the workers that multiply them next,
// and passed on from worker to worker.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/cannon_grid.hpp"
#include "penstock/gemm/deliveries.hpp"
#include "penstock/gemm/operand.hpp"
#include "penstock/layout/layout.hpp"

namespace penstock::gemm {

/// Rows and columns of a factor, and where they are.
struct PanelPart {
  Range rows;
  Range columns;
  Block block;
};
using Panel = std::vector<PanelPart>;

/// One factor's panels, as one rank receives them and sends them to others. Every worker has three buffers that take
/// turns: while one is received, one is multiplied, and one is sent on. A buffer is sent to when its worker has said
/// that it is free (a signal of the sender's: the credit). Each rank's part of a panel lies dense in the buffer, behind
/// the parts before it, so that it is one put.
template <class T>
class Shifts {
 public:
  static constexpr std::size_t buffers = 3;

  /// Collective; the references stay valid longer than this, and peers are done with it when it ends. `nodes` as for
  /// `deliveries`. Throws Error on every rank where one has no memory.
  Shifts(const gas::Team& team, Factor factor, const CannonGrid& grid, Operand<T>& operand, std::span<const int> nodes);

  /// Where something was thrown, gives up what is under way.
  ~Shifts();
  Shifts(const Shifts&) = delete;
  Shifts& operator=(const Shifts&) = delete;

  /// Tells the senders that the buffers are free.
  void start();
  /// Begins what has become possible; to be called often. Throws where a peer has failed.
  void advance();
  /// Whether the panel of a step is here.
  bool has_arrived(int step) const;
  /// A rank of the world that sends the panel of a step; -1 where none does.
  int sender(int step) const;
  /// A rank of the world that is to receive what has not been sent, or is not there; -1 where all is.
  int receiver() const;
  /// The panel of a step, which has arrived or lies in place; empty where that has no elements.
  Panel panel(int step) const;
  /// The panel of a step is needed here no more.
  void release(int step);
  /// Whether all has been sent, and is there.
  bool is_done() const noexcept { return sends_left_ == 0 && under_way_.empty(); }
  /// What came here so far.
  std::int64_t received_bytes() const noexcept { return received_bytes_; }

 private:
  /// A part of a panel that this rank sends; all of one that it hands on.
  struct Send {
    std::size_t number;  // of the delivery, of those to that worker
    typename Operand<T>::RankPart part;
    std::optional<int> step;  // of ours, whose panel it is; none where we own it
  };
  /// What goes to one worker, in order.
  struct Queue {
    std::vector<Send> sends = {};
    std::size_t begun = 0;
  };
  /// What comes here.
  struct Arrival {
    Delivery delivery;
    std::uint64_t signal;      // the value of its buffer's signal when all of it is here
    std::vector<int> senders;  // each once for a part
    bool is_used = false;
    int to_hand_on = 0;  // sends of it that have not begun
    std::vector<gas::Event> handed_on = {};
  };

  /// What is put.
  struct Source {
    const std::byte* data;
    layout::Layout layout;
  };

  void plan_arrivals(std::span<const int> nodes);
  gas::Segment make_segment() const;
  void plan_sends(std::span<const int> nodes);
  Source source_of(const Send& send) const;
  bool try_send(int to, Queue& queue);
  void free_buffers();
  const Arrival* arrival_of(int step) const;
  T* buffer(std::size_t number) const;
  void give_credit(std::size_t number);
  bool is_here(const Arrival& arrival) const;

  const gas::Team& team_;
  Factor factor_;
  const CannonGrid& grid_;
  Operand<T>& operand_;
  std::size_t buffer_elements_;
  std::vector<Arrival> arrivals_;
  std::vector<int> number_of_step_;  // of the arrival; -1 where a panel does not travel
  std::size_t freed_ = 0;            // arrivals whose buffer has been given to the one three later
  std::map<int, Queue> queues_;
  std::size_t sends_left_ = 0;
  // The buffers. Signals: how many parts have come into each buffer; from `buffers` on the credits of each rank.
  gas::Segment segment_;
  std::deque<gas::Event> under_way_;
  std::deque<int> receivers_;  // of these
  std::int64_t received_bytes_ = 0;
};

}  // namespace penstock::gemm
