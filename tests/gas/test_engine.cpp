// A signal follows its put: no earlier than the network says that the put has arrived.
#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/engine.hpp"

namespace penstock::gas {
namespace {

/// A network on which puts arrive when the test says so.
class SlowNetwork final : public Network {
 public:
  class Memory final : public RemoteMemory {
   public:
    explicit Memory(SlowNetwork& network) : network_(network) {}
    void put(std::size_t, std::span<const std::byte>, std::shared_ptr<Sent> source,
             std::shared_ptr<Sent> remote) override {
      source->finish();
      network_.under_way.push_back(std::move(remote));
    }
    void get(std::size_t, std::span<std::byte>, std::shared_ptr<Sent>) override {}

   private:
    SlowNetwork& network_;
  };

  void send(int, const Header& header, std::span<const std::byte>, std::shared_ptr<Sent>) override {
    messages.push_back(header);
  }
  void progress(Inbox&) override {}

  std::vector<Header> messages;
  std::vector<std::shared_ptr<Sent>> under_way;
};

/// Rank 0 of two that share nothing; the other is not there.
class HalfTransport final : public Transport {
 public:
  class OwnRegion final : public Region {
   public:
    explicit OwnRegion(std::size_t bytes) : memory_(bytes) {
      mine = {memory_.data(), memory_.size()};
      at = {memory_.data(), nullptr};
    }

   private:
    Memory memory_;
  };

  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 2; }
  std::string_view name() const noexcept override { return "half"; }
  bool is_local(int peer) const noexcept override { return peer == 0; }
  bool allows_threads() const noexcept override { return true; }
  void barrier() override {}
  void all_gather(const void* mine, std::size_t bytes, void* all) override {
    std::memcpy(all, mine, bytes);
    std::memcpy(static_cast<std::byte*>(all) + bytes, mine, bytes);
  }
  std::unique_ptr<Transport> split(int, int) override { return nullptr; }
  std::unique_ptr<Region> map(std::size_t bytes) override { return std::make_unique<OwnRegion>(bytes); }
  std::unique_ptr<Network> make_network() override {
    auto made = std::make_unique<SlowNetwork>();
    network = made.get();
    return made;
  }

  SlowNetwork* network = nullptr;
};

TEST(Engine, SendsWhatFollowsAPutWhenThatHasArrived) {
  const auto transport = std::make_shared<HalfTransport>();
  Engine engine(transport);
  SlowNetwork& network = *transport->network;
  SlowNetwork::Memory memory(network);
  std::vector<std::shared_ptr<Sent>> sources;
  for (std::uint64_t signal = 0; signal < 2; ++signal) {
    sources.push_back(std::make_shared<Sent>());
    engine.put_then_send(1, memory, 0, {}, {.kind = MessageKind::put, .signal = signal}, sources.back(),
                         std::make_shared<Sent>());
  }
  engine.progress();
  EXPECT_TRUE(network.messages.empty());
  EXPECT_FALSE(sources[0]->is_done());
  network.under_way[1]->finish();  // the second put arrives first
  engine.progress();
  ASSERT_EQ(network.messages.size(), 1U);
  EXPECT_EQ(network.messages[0].signal, 1U);
  EXPECT_FALSE(sources[0]->is_done());
  EXPECT_TRUE(sources[1]->is_done());
  network.under_way[0]->finish();
  engine.progress();
  ASSERT_EQ(network.messages.size(), 2U);
  EXPECT_EQ(network.messages[1].signal, 0U);
  EXPECT_TRUE(sources[0]->is_done());
}

}  // namespace
}  // namespace penstock::gas
