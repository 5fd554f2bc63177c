// Exchanges message by message: written in place where the peer's memory is mapped, sent by persistent messages
// elsewhere.
#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/exchange_way.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gas/revocation.hpp"
#include "penstock/gas/team_calls.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {
namespace {

/// MPI goes on reading what it has been given to send.
void keep_for_good(Memory memory) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<Memory>;  // until the process ends
  const std::scoped_lock lock(mutex);
  kept->push_back(std::move(memory));
}

/// Over TCP, MPI asks the receiver of a long message first, whose answer waits behind what it is sending itself: the
/// two directions take turns. Packets are sent without that. Elsewhere long messages are carried better than many short
/// ones.
std::size_t piece_bytes(Carrier carrier) {
  return carrier == Carrier::packets ? most_packet_bytes : std::numeric_limits<std::size_t>::max();
}

/// The ranks whose memory this one writes, in order: the same list on each of them.
std::vector<int> find_written(const Team& team, Carrier carrier) {
  std::vector<int> written;
  for (int peer = 0; peer < team.size(); ++peer) {
    if (is_written_in_place(team, carrier, peer)) {
      written.push_back(peer);
    }
  }
  return written;
}

class ByMessages final : public ExchangeWay {
 public:
  ByMessages(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing, std::vector<Incoming> incoming,
             Carrier carrier, Memory buffer)
      : transport_(team.transport()),
        calls_(team.calls()),
        segment_(segment),
        outgoing_(std::move(outgoing)),
        written_(find_written(team, carrier)),
        signals_(team, 0, written_.size() + incoming.size()),
        buffer_(std::move(buffer)),
        arrived_(incoming.size()) {
    const auto is_written = [&](int peer) { return std::ranges::binary_search(written_, peer); };
    std::size_t offset = 0;
    for (const Outgoing& message : outgoing_) {
      std::byte* data = is_written(message.peer) ? nullptr : buffer_.data() + offset;
      buffers_.push_back(data);
      openings_.push_back(opening_signal(message.peer));
      senders_.push_back(data == nullptr
                             ? nullptr
                             : transport_.send_channel(message.peer, {data, message.bytes}, piece_bytes(carrier)));
      offset += data == nullptr ? 0 : message.bytes;
    }
    for (const Incoming& message : incoming) {
      if (is_written(message.peer)) {
        receivers_.push_back(nullptr);
        sources_.push_back(message.peer);
      } else {
        const auto place = segment.local().subspan(message.offset, message.bytes);
        receivers_.push_back(transport_.receive_channel(message.peer, place, piece_bytes(carrier)));
      }
    }
    std::sort(sources_.begin(), sources_.end());
    sources_.erase(std::unique(sources_.begin(), sources_.end()), sources_.end());
  }

  ~ByMessages() override {
    if (calls_.revocation()->is_set()) {
      keep_for_good(std::move(buffer_));  // a round may have failed half-way
    }
  }
  ByMessages(const ByMessages&) = delete;
  ByMessages& operator=(const ByMessages&) = delete;

  void open() override {
    ++round_;
    first_missing_.store(0, std::memory_order_relaxed);
    for (const auto& receiver : receivers_) {
      if (receiver != nullptr) {
        receiver->start();
      }
    }
    for (const int source : sources_) {
      signals_.notify(source, opening_signal(transport_.rank()));
    }
  }

  bool is_open(std::size_t message) override {
    return buffers_[message] != nullptr || signals_.value(openings_[message]) >= round_;
  }

  std::byte* destination(std::size_t message) override {
    const Outgoing& out = outgoing_[message];
    return buffers_[message] != nullptr ? buffers_[message] : segment_.address_at(out.peer) + out.offset;
  }

  void send(std::size_t message) override {
    if (senders_[message] != nullptr) {
      senders_[message]->start();
    } else {
      const Outgoing& out = outgoing_[message];
      signals_.notify(out.peer, arrival_signal(out.index));
    }
  }

  bool has_arrived(std::size_t message) override {
    if (receivers_[message] == nullptr) {
      return signals_.value(arrival_signal(message)) >= round_;
    }
    if (arrived_[message].load(std::memory_order_acquire) == round_) {
      return true;
    }
    if (!receivers_[message]->test()) {
      return false;
    }
    arrived_[message].store(round_, std::memory_order_release);
    return true;
  }

  // Whatever is asked for drives all that is under way; what is complete drives nothing.
  void progress() override {
    std::size_t message = first_missing_.load(std::memory_order_relaxed);
    while (message < receivers_.size() && (receivers_[message] == nullptr || has_arrived(message))) {
      ++message;
    }
    first_missing_.store(message, std::memory_order_relaxed);
    if (message == receivers_.size()) {
      has_finished();
    }
  }

  bool has_finished() override {
    return std::all_of(senders_.begin(), senders_.end(),
                       [](const auto& sender) { return sender == nullptr || sender->test(); });
  }

 private:
  /// The rounds that `rank` has opened towards the rank that has the signal; of those that are written alone.
  std::size_t opening_signal(int rank) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(written_, rank) - written_.begin());
  }
  /// The arrivals of a message.
  std::size_t arrival_signal(std::size_t message) const { return written_.size() + message; }

  Transport& transport_;
  TeamCalls& calls_;
  const Segment& segment_;
  std::vector<Outgoing> outgoing_;
  std::vector<int> sources_;  // the ranks that write into this one's memory, each once
  std::vector<int> written_;
  Segment signals_;
  std::vector<std::size_t> openings_;  // by outgoing message: the signal of its peer
  std::uint64_t round_ = 0;

  // For peers that are not written in place.
  Memory buffer_;
  std::vector<std::byte*> buffers_;                  // by outgoing message; else nullptr
  std::vector<std::unique_ptr<Channel>> senders_;    // by outgoing message
  std::vector<std::unique_ptr<Channel>> receivers_;  // by incoming message
  std::vector<std::atomic<std::uint64_t>> arrived_;  // by incoming message: the round whose arrival was seen
  std::atomic<std::size_t> first_missing_ = 0;       // of the network: all incoming messages before it have arrived
};

}  // namespace

std::unique_ptr<ExchangeWay> exchange_by_messages(const Team& team, const Segment& segment,
                                                  std::vector<Outgoing> outgoing, std::vector<Incoming> incoming,
                                                  Carrier carrier) {
  Memory buffer;
  team.together([&] { buffer = Memory(Exchange::buffer_bytes(team, outgoing, carrier)); });
  return std::make_unique<ByMessages>(team, segment, std::move(outgoing), std::move(incoming), carrier,
                                      std::move(buffer));
}

}  // namespace penstock::gas
