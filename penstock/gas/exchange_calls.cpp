// Exchanges by MPI's all-to-all calls, as programs do without this library: there to be compared with.
#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/exchange_way.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gas/rank_index.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {
namespace {

/// For each message the call that carries it: the k-th between two ranks goes in call k.
template <class Message>
std::vector<std::size_t> calls_of(const std::vector<Message>& messages) {
  std::vector<std::size_t> calls;
  std::map<int, std::size_t> by_peer;
  for (const Message& message : messages) {
    calls.push_back(by_peer[message.peer]++);
  }
  return calls;
}

class ByCalls final : public ExchangeWay {
 public:
  ByCalls(const Team& team, const Segment& segment, const std::vector<Outgoing>& outgoing,
          const std::vector<Incoming>& incoming, bool is_blocking, Memory buffer)
      : buffer_(std::move(buffer)), call_of_outgoing_(calls_of(outgoing)), call_of_incoming_(calls_of(incoming)) {
    std::size_t mine = 0;
    for (const auto& calls : {call_of_outgoing_, call_of_incoming_}) {
      for (const std::size_t call : calls) {
        mine = std::max(mine, call + 1);
      }
    }
    const auto counts = team.all_gather(mine);
    const std::size_t count = *std::max_element(counts.begin(), counts.end());
    const AllToAllCall nothing{.outgoing = std::vector<std::span<std::byte>>(index(team.size())),
                               .incoming = std::vector<std::span<std::byte>>(index(team.size()))};
    std::vector<AllToAllCall> calls(count, nothing);
    messages_of_call_.resize(count);
    std::size_t offset = 0;
    for (std::size_t i = 0; i < outgoing.size(); ++i) {
      buffers_.push_back(buffer_.data() + offset);
      calls[call_of_outgoing_[i]].outgoing[index(outgoing[i].peer)] = {buffers_[i], outgoing[i].bytes};
      ++messages_of_call_[call_of_outgoing_[i]];
      offset += outgoing[i].bytes;
    }
    for (std::size_t i = 0; i < incoming.size(); ++i) {
      calls[call_of_incoming_[i]].incoming[index(incoming[i].peer)] =
          segment.local().subspan(incoming[i].offset, incoming[i].bytes);
    }
    unsent_.resize(count);
    channels_ = team.transport().all_to_all_channels(std::move(calls), is_blocking);
  }

  void open() override {
    const std::scoped_lock lock(mutex_);
    unsent_ = messages_of_call_;
    begun_ = 0;
    done_ = 0;
  }

  bool is_open(std::size_t /*message*/) override { return true; }

  std::byte* destination(std::size_t message) override { return buffers_[message]; }

  void send(std::size_t message) override {
    const std::scoped_lock lock(mutex_);
    --unsent_[call_of_outgoing_[message]];
    advance();
  }

  bool has_arrived(std::size_t message) override {
    const std::scoped_lock lock(mutex_);
    advance();
    return call_of_incoming_[message] < done_;
  }

  void progress() override {
    const std::scoped_lock lock(mutex_);
    advance();
  }

  bool has_finished() override {
    const std::scoped_lock lock(mutex_);
    advance();
    return done_ == channels_.size();
  }

 private:
  // All ranks must make their calls in the same order. Nothing begins in `open`: a rank that has nothing to send in
  // this exchange may still have to send in one before, which a blocking call would keep it from.
  void advance() {
    while (begun_ < channels_.size() && unsent_[begun_] == 0) {
      channels_[begun_++]->start();
    }
    while (done_ < begun_ && channels_[done_]->test()) {
      ++done_;
    }
  }

  Memory buffer_;
  std::vector<std::byte*> buffers_;  // by outgoing message
  std::vector<std::size_t> call_of_outgoing_;
  std::vector<std::size_t> call_of_incoming_;
  std::vector<std::size_t> messages_of_call_;
  std::vector<std::unique_ptr<Channel>> channels_;  // by call
  std::mutex mutex_;
  std::vector<std::size_t> unsent_;  // by call, in this round
  std::size_t begun_ = 0;            // calls of this round
  std::size_t done_ = 0;
};

}  // namespace

std::unique_ptr<ExchangeWay> exchange_by_calls(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing,
                                               std::vector<Incoming> incoming, bool is_blocking) {
  Memory buffer;
  team.together([&] { buffer = Memory(Exchange::buffer_bytes(team, outgoing, Carrier::mpi_alltoall)); });
  return std::make_unique<ByCalls>(team, segment, outgoing, incoming, is_blocking, std::move(buffer));
}

}  // namespace penstock::gas
