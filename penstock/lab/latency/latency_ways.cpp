#include "penstock/lab/latency/latency_ways.hpp"

#include <atomic>
#include <cstring>
#include <new>
#include <span>

#include "penstock/base/base.hpp"

namespace penstock::lab {
namespace {

/// The floor: the message and a flag behind it, by plain stores.
class CopyAndFlag final : public PingPong {
 public:
  CopyAndFlag(const gas::Team& team, std::size_t max_bytes)
      : PingPong(max_bytes),
        flag_at_(round_up(max_bytes, cache_line_bytes)),
        segment_(team, flag_at_ + cache_line_bytes, 0) {}

  const char* name() const override { return "copy and flag"; }

 private:
  using Flag = std::atomic<std::uint64_t>;
  // Zeroed memory is what a flag of 0 looks like.
  Flag& flag_in(std::byte* part) const { return *std::launder(reinterpret_cast<Flag*>(part + flag_at_)); }
  void send(int peer) override {
    std::byte* const to = segment_.address_at(peer);
    std::memcpy(to, data_.data(), bytes_);
    flag_in(to).store(count_, std::memory_order_release);
  }
  void receive(int) override {
    Flag& flag = flag_in(segment_.local().data());
    while (flag.load(std::memory_order_acquire) != count_) {
      relax();
    }
  }

  std::size_t flag_at_;
  gas::Segment segment_;
};

class PutSignal final : public PingPong {
 public:
  PutSignal(const gas::Team& team, std::size_t max_bytes) : PingPong(max_bytes), segment_(team, max_bytes, 1) {}

  const char* name() const override { return "put_signal"; }

 private:
  void send(int peer) override { segment_.put_signal(gas::Pointer<>{peer, 0}, std::span(data_).first(bytes_), 0); }
  void receive(int) override { segment_.wait(0, count_); }

  gas::Segment segment_;
};

class PutSet final : public PingPong {
 public:
  PutSet(const gas::Team& team, std::size_t max_bytes) : PingPong(max_bytes), segment_(team, max_bytes, 1) {}

  const char* name() const override { return "put_set"; }

 private:
  void send(int peer) override { segment_.put_set(gas::Pointer<>{peer, 0}, std::span(data_).first(bytes_), 0, count_); }
  void receive(int) override { segment_.wait(0, count_); }

  gas::Segment segment_;
};

class Get final : public LatencyContender {
 public:
  Get(const gas::Team& team, std::size_t max_bytes) : segment_(team, max_bytes, 0), data_(max_bytes) {}

  const char* name() const override { return "get"; }
  bool is_one_sided() const override { return true; }
  void set_size(std::size_t bytes) override { bytes_ = bytes; }
  void repeat(int) override { segment_.get(gas::Pointer<>{1, 0}, std::span(data_).first(bytes_)); }

 private:
  gas::Segment segment_;
  std::vector<std::byte> data_;
  std::size_t bytes_ = 0;
};

class FetchAdd final : public LatencyContender {
 public:
  explicit FetchAdd(const gas::Team& team) : segment_(team, sizeof(std::uint64_t), 0) {}

  const char* name() const override { return "fetch_add"; }
  bool is_one_sided() const override { return true; }
  bool serves(std::size_t bytes) const override { return bytes == sizeof(std::uint64_t); }
  void repeat(int) override { segment_.fetch_add(gas::Pointer<std::uint64_t>{1, 0}, 1); }

 private:
  gas::Segment segment_;
};

class ActiveMessage final : public LatencyContender {
 public:
  explicit ActiveMessage(const gas::Team& team)
      : team_(team),
        messages_(team, {[](const gas::ActiveMessages::Message& message) { message.reply(1, {}, message.payload()); },
                         [this](const gas::ActiveMessages::Message&) { ++answers_; }}),
        data_(gas::ActiveMessages::max_payload_bytes) {}

  const char* name() const override { return "active message"; }
  bool is_one_sided() const override { return true; }
  bool serves(std::size_t bytes) const override { return bytes <= data_.size(); }
  void set_size(std::size_t bytes) override { bytes_ = bytes; }
  void repeat(int) override {
    const std::uint64_t wanted = answers_ + 1;
    messages_.call(1, 0, {}, std::span(data_).first(bytes_));
    while (answers_ != wanted) {
      team_.poll();
    }
  }

 private:
  const gas::Team& team_;
  std::uint64_t answers_ = 0;
  gas::ActiveMessages messages_;
  std::vector<std::byte> data_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<LatencyContender>> make_latency_ways(const gas::Team& team, std::size_t max_bytes,
                                                                 [[maybe_unused]] bool has_mpi,
                                                                 [[maybe_unused]] std::vector<std::string>& left_out) {
  std::vector<std::unique_ptr<LatencyContender>> ways;
  if (team.all_of(team.rank() > 1 || team.is_local(1 - team.rank()))) {
    ways.push_back(std::make_unique<CopyAndFlag>(team, max_bytes));
  }
  ways.push_back(std::make_unique<PutSignal>(team, max_bytes));
  ways.push_back(std::make_unique<PutSet>(team, max_bytes));
  ways.push_back(std::make_unique<Get>(team, max_bytes));
  ways.push_back(std::make_unique<FetchAdd>(team));
  ways.push_back(std::make_unique<ActiveMessage>(team));
#if PENSTOCK_HAS_UCX
  if (team.transport().name == "ucx") {
    add_ucx_ways(ways, team, max_bytes);
  }
#endif
#if PENSTOCK_HAS_MPI
  if (has_mpi) {
    add_mpi_ways(ways, max_bytes, left_out);
  }
#endif
  return ways;
}

}  // namespace penstock::lab
