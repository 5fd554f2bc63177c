// Exchanges message by message: written in place where the peer's memory is mapped, put where the network writes it,
// sent by persistent messages elsewhere.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/collective/collective_registry.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/revocation.hpp"
#include "penstock/gas/core/segment_state.hpp"
#include "penstock/gas/core/team_parts.hpp"
#include "penstock/gas/exchange/message_backend.hpp"
#include "penstock/gas/exchange/waves.hpp"
#include "penstock/gas/gas.hpp"
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
std::size_t piece_bytes_of(Carrier carrier) {
  return carrier == Carrier::packets ? max_packet_bytes : std::numeric_limits<std::size_t>::max();
}

}  // namespace

class ExchangeByMessages final : public ExchangeBackend {
 public:
  ExchangeByMessages(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing,
                     std::vector<Incoming> incoming, Carrier carrier, const Staging& staging, Memory buffer)
      : transport_(*team.parts().transport),
        calls_(*team.parts().calls),
        segment_(segment),
        outgoing_(std::move(outgoing)),
        signalled_(find_signalled(team, segment)),
        signals_(team, 0, signalled_.size() + incoming.size()),
        buffer_(std::move(buffer)),
        arrived_(incoming.size()) {
    std::vector<char> is_staged;
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      const Outgoing& message = outgoing_[i];
      const bool is_written = team.is_local(message.peer);
      std::byte* data = is_written ? nullptr : buffer_.data() + staging.offsets[i];
      is_staged.push_back(is_written ? 0 : 1);
      needs_progress_ = needs_progress_ || !is_written;
      const Path path = is_written ? Path::in_place : is_put_to(message.peer) ? Path::put : Path::channel;
      buffers_.push_back(data);
      paths_.push_back(path);
      sent_.push_back(path == Path::put ? std::make_shared<Completion>(0) : nullptr);  // there was no round yet
      openings_.push_back(path == Path::channel ? 0 : opening_signal(message.peer));
      senders_.push_back(path != Path::channel
                             ? nullptr
                             : transport_.send_channel(message.peer, {data, message.bytes}, piece_bytes_of(carrier)));
    }
    waves_ = std::make_unique<Waves>(outgoing_, is_staged);
    for (const Incoming& message : incoming) {
      const bool is_far = !team.is_local(message.peer);
      needs_progress_ = needs_progress_ || is_far;
      if (!is_far || is_put_to(team.rank())) {
        receivers_.push_back(nullptr);
        sources_.push_back(message.peer);
        has_far_sources_ = has_far_sources_ || is_far;
      } else {
        const auto place = segment.local().subspan(message.offset, message.bytes);
        receivers_.push_back(transport_.receive_channel(message.peer, place, piece_bytes_of(carrier)));
      }
    }
    std::sort(sources_.begin(), sources_.end());
    sources_.erase(std::unique(sources_.begin(), sources_.end()), sources_.end());
  }

  ~ExchangeByMessages() override {
    if (calls_.revocation()->is_set() || !has_left()) {
      keep_for_good(std::move(buffer_));  // a round may have failed half-way
    }
  }
  ExchangeByMessages(const ExchangeByMessages&) = delete;
  ExchangeByMessages& operator=(const ExchangeByMessages&) = delete;

  void open() override {
    ++round_;
    waves_->begin_round();
    first_missing_.store(0, std::memory_order_relaxed);
    for (const auto& receiver : receivers_) {
      if (receiver != nullptr) {
        receiver->start();
      }
    }
    for (const int source : sources_) {
      signals_.set(source, opening_signal(transport_.rank()), round_);
    }
  }

  bool is_open(std::size_t message) override {
    switch (paths_[message]) {
      case Path::in_place:
        return signals_.value(openings_[message]) >= round_;
      case Path::put:
        return has_buffer(message) && signals_.test(openings_[message], round_);
      default:
        return has_buffer(message);
    }
  }

  std::byte* destination(std::size_t message) override {
    const Outgoing& out = outgoing_[message];
    return buffers_[message] != nullptr ? buffers_[message] : segment_.address_at(out.peer) + out.offset;
  }

  void send(std::size_t message) override {
    const Outgoing& out = outgoing_[message];
    switch (paths_[message]) {
      case Path::in_place:
        signals_.set(out.peer, arrival_signal(out.index), round_);
        return;
      case Path::put: {
        const Segment::State& words = *signals_.state_;
        sent_[message]->renew();
        words.engine.put_then_set(*segment_.state_->remote_at(out.peer), out.offset, {buffers_[message], out.bytes},
                                  *words.remote_at(out.peer),
                                  words.word_of(out.peer, arrival_signal(out.index), round_), sent_[message]);
        break;
      }
      case Path::channel:
        senders_[message]->start();
        break;
    }
    waves_->count_sent(out.wave);
  }

  bool has_arrived(std::size_t message) override {
    if (receivers_[message] == nullptr) {
      const std::size_t signal = arrival_signal(message);
      return has_far_sources_ ? signals_.test(signal, round_) : signals_.value(signal) >= round_;
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
    while (message < receivers_.size() && has_arrived(message)) {
      ++message;
    }
    first_missing_.store(message, std::memory_order_relaxed);
    if (message == receivers_.size()) {
      has_finished();
    }
  }

  bool has_finished() override {
    if (!has_left()) {
      calls_.engine().progress();
      calls_.check_revoked();
      return false;
    }
    return std::all_of(senders_.begin(), senders_.end(),
                       [](const auto& sender) { return sender == nullptr || sender->test(); });
  }

  bool needs_progress() const noexcept override { return needs_progress_; }

 private:
  enum class Path : std::uint8_t {
    in_place,  ///< written where it belongs
    put,       ///< by the network, its signal behind it
    channel,   ///< sent
  };

  /// The ranks that tell one another of rounds, in order: the same list on all of them.
  static std::vector<int> find_signalled(const Team& team, const Segment& segment) {
    std::vector<int> signalled;
    for (int peer = 0; peer < team.size(); ++peer) {
      if (team.is_local(peer) || segment.state_->has_remote()) {
        signalled.push_back(peer);
      }
    }
    return signalled;
  }

  /// Whether the network puts to `peer` from the ranks that do not map its memory; the same on both sides.
  bool is_put_to(int peer) const {
    return segment_.state_->is_exposed_at(peer) && signals_.state_->is_exposed_at(peer);
  }

  /// Whether the message's wave has its buffers.
  bool has_buffer(std::size_t message) {
    const auto has_left = [&](std::size_t sent) {
      return paths_[sent] == Path::put ? sent_[sent]->is_done() : senders_[sent]->test();
    };
    if (waves_->is_free(outgoing_[message].wave, has_left)) {
      return true;
    }
    calls_.engine().progress();
    calls_.check_revoked();
    return false;
  }

  /// Whether all that was put has been read from the buffers.
  bool has_left() const noexcept {
    return std::all_of(sent_.begin(), sent_.end(), [](const auto& sent) { return sent == nullptr || sent->is_done(); });
  }

  /// The rounds that `rank` has opened towards the rank that has the signal.
  std::size_t opening_signal(int rank) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(signalled_, rank) - signalled_.begin());
  }
  /// Of a message: the last round in which it has arrived.
  std::size_t arrival_signal(std::size_t message) const { return signalled_.size() + message; }

  Transport& transport_;
  CollectiveRegistry& calls_;
  const Segment& segment_;
  std::vector<Outgoing> outgoing_;
  std::vector<Path> paths_;       // by outgoing message
  std::vector<int> sources_;      // the ranks that write or put into this one's memory, each once
  bool has_far_sources_ = false;  // those that put
  bool needs_progress_ = false;   // ranks that are not local send or receive
  std::vector<int> signalled_;
  Segment signals_;
  std::vector<std::size_t> openings_;  // by outgoing message: the signal of its peer
  std::uint64_t round_ = 0;

  // For peers that are not written in place.
  Memory buffer_;
  std::unique_ptr<Waves> waves_;
  std::vector<std::byte*> buffers_;                  // by outgoing message; else nullptr
  std::vector<std::shared_ptr<Completion>> sent_;    // by outgoing message, of those that are put
  std::vector<std::unique_ptr<Channel>> senders_;    // by outgoing message
  std::vector<std::unique_ptr<Channel>> receivers_;  // by incoming message
  std::vector<std::atomic<std::uint64_t>> arrived_;  // by incoming message: the round whose arrival was seen
  std::atomic<std::size_t> first_missing_ = 0;       // of the network: all incoming messages before it have arrived
};

std::unique_ptr<ExchangeBackend> exchange_by_messages(const Team& team, const Segment& segment,
                                                      std::vector<Outgoing> outgoing, std::vector<Incoming> incoming,
                                                      Carrier carrier) {
  const Staging staging = lay_out_staging(team, outgoing);
  Memory buffer;
  team.together([&] { buffer = Memory(staging.bytes); });
  return std::make_unique<ExchangeByMessages>(team, segment, std::move(outgoing), std::move(incoming), carrier, staging,
                                              std::move(buffer));
}

}  // namespace penstock::gas
