// Exchanges by a persistent message of MPI for each.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/lab/exchange/mpi_exchange_parts.hpp"

namespace penstock::lab {
namespace {

class ByMessages final : public gas::ExchangeBackend {
 public:
  ByMessages(const gas::Team& team, const gas::Segment& segment, std::vector<gas::Outgoing> outgoing,
             const std::vector<gas::Incoming>& incoming, MPI_Comm world)
      : outgoing_(std::move(outgoing)),
        local_(segment.local()),
        rank_(team.rank()),
        offsets_(offsets_of(outgoing_, rank_)),
        buffer_(take_memory(team, offsets_.back())),
        sends_(outgoing_.size(), MPI_REQUEST_NULL),
        receives_(incoming.size(), MPI_REQUEST_NULL),
        arrived_(incoming.size()) {
    const auto is_far = [&](const auto& message) { return message.peer != rank_; };
    const bool is_any_far = std::ranges::any_of(outgoing_, is_far) || std::ranges::any_of(incoming, is_far);
    if (team.largest(is_any_far ? 1 : 0) == 0) {
      return;
    }
    comm_ = std::make_unique<Communicator>(team, world);
    team.together([&] { make_requests(incoming); });
  }

  ~ByMessages() override {
    if (has_mpi_ended()) {
      return;
    }
    for (auto* const requests : {&sends_, &receives_}) {
      for (MPI_Request& request : *requests) {
        if (request == MPI_REQUEST_NULL) {
          continue;
        }
        if (!comm_->is_done(request)) {  // a round has failed half-way: MPI goes on reading what it was given
          static auto* const kept = new std::vector<Memory>;
          kept->push_back(std::move(buffer_));
          return;
        }
        MPI_Request_free(&request);
      }
    }
  }
  ByMessages(const ByMessages&) = delete;
  ByMessages& operator=(const ByMessages&) = delete;

  void open() override {
    for (auto& arrived : arrived_) {
      arrived.store(false, std::memory_order_relaxed);
    }
    for (MPI_Request& request : receives_) {
      start(request);
    }
  }
  bool is_open(std::size_t /*message*/) override { return true; }
  std::byte* destination(std::size_t message) override {
    const gas::Outgoing& out = outgoing_[message];
    return out.peer == rank_ ? local_.data() + out.offset : buffer_.data() + offsets_[message];
  }
  void send(std::size_t message) override {
    if (outgoing_[message].peer == rank_) {
      arrived_[outgoing_[message].index].store(true, std::memory_order_release);
    } else {
      start(sends_[message]);
    }
  }
  bool has_arrived(std::size_t message) override {
    if (receives_[message] != MPI_REQUEST_NULL && !arrived_[message].load(std::memory_order_acquire) &&
        comm_->is_done(receives_[message])) {
      arrived_[message].store(true, std::memory_order_release);
    }
    return arrived_[message].load(std::memory_order_acquire);
  }
  bool has_finished() override {
    return std::ranges::all_of(
        sends_, [&](MPI_Request& request) { return request == MPI_REQUEST_NULL || comm_->is_done(request); });
  }
  void progress() override { has_finished(); }
  bool needs_progress() const noexcept override { return false; }  // left to what MPI does by itself

 private:
  void make_requests(const std::vector<gas::Incoming>& incoming) {
    const auto tag = [](std::size_t number) { return static_cast<int>(number % 32767); };  // MPI matches in order
    const auto sent = numbers_of(outgoing_);
    const auto received = numbers_of(incoming);
    comm_->in_turn([&] {
      for (std::size_t i = 0; i < outgoing_.size(); ++i) {
        if (outgoing_[i].peer != rank_) {
          check_exchange(MPI_Send_init(buffer_.data() + offsets_[i], count_of(outgoing_[i].bytes), MPI_BYTE,
                                       outgoing_[i].peer, tag(sent[i]), comm_->get(), &sends_[i]),
                         "MPI_Send_init");
        }
      }
      for (std::size_t i = 0; i < incoming.size(); ++i) {
        if (incoming[i].peer != rank_) {
          check_exchange(MPI_Recv_init(local_.data() + incoming[i].offset, count_of(incoming[i].bytes), MPI_BYTE,
                                       incoming[i].peer, tag(received[i]), comm_->get(), &receives_[i]),
                         "MPI_Recv_init");
        }
      }
    });
  }
  void start(MPI_Request& request) {
    if (request != MPI_REQUEST_NULL) {
      comm_->in_turn([&] { check_exchange(MPI_Start(&request), "MPI_Start"); });
    }
  }

  std::vector<gas::Outgoing> outgoing_;
  std::span<std::byte> local_;
  int rank_;
  std::vector<std::size_t> offsets_;
  Memory buffer_;
  std::unique_ptr<Communicator> comm_;
  std::vector<MPI_Request> sends_;          // by outgoing message, of those to others
  std::vector<MPI_Request> receives_;       // by incoming message
  std::vector<std::atomic<bool>> arrived_;  // by incoming message, in this round
};

}  // namespace

std::unique_ptr<gas::ExchangeBackend> exchange_by_mpi_messages(const gas::Team& team, const gas::Segment& segment,
                                                               std::vector<gas::Outgoing> outgoing,
                                                               const std::vector<gas::Incoming>& incoming,
                                                               MPI_Comm world) {
  return std::make_unique<ByMessages>(team, segment, std::move(outgoing), incoming, world);
}

}  // namespace penstock::lab
