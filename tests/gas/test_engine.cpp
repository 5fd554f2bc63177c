// The order of a put and its signal, and what becomes of operations that do not come to their end: with a network and a
// peer that the tests play.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/team_parts.hpp"
#include "penstock/gas/gas.hpp"
#include "tests/fails_with.hpp"
#include "tests/gas/half_world.hpp"

namespace penstock::gas {
namespace {

TEST(Engine, SendsWhatFollowsAPutWhenThatHasArrived) {
  const auto transport = std::make_shared<HalfTransport>();
  Engine engine(transport, true);
  PlayedNetwork& network = *transport->network;
  PlayedNetwork::Memory memory(network);
  std::vector<std::shared_ptr<Completion>> sources;
  for (std::uint64_t signal = 0; signal < 2; ++signal) {
    sources.push_back(std::make_shared<Completion>());
    engine.put_then_send(1, memory, 0, {}, {.kind = MessageKind::put, .signal = signal}, sources.back(),
                         std::make_shared<Completion>());
  }
  engine.progress();
  EXPECT_TRUE(network.messages.empty());
  EXPECT_FALSE(sources[0]->is_done());
  network.puts[1]->finish();  // the second put arrives first
  engine.progress();
  ASSERT_EQ(network.messages.size(), 1U);
  EXPECT_EQ(network.messages[0].signal, 1U);
  EXPECT_FALSE(sources[0]->is_done());
  EXPECT_TRUE(sources[1]->is_done());
  network.puts[0]->finish();
  engine.progress();
  ASSERT_EQ(network.messages.size(), 2U);
  EXPECT_EQ(network.messages[1].signal, 0U);
  EXPECT_TRUE(sources[0]->is_done());
}

/// Wants its answer in memory of the test's.
class ToMemory final : public Request {
 public:
  explicit ToMemory(std::vector<std::byte>& memory) : memory_(memory) {}
  std::byte* place(const Header&) override { return memory_.data(); }
  void take(const Header&, std::span<const std::byte> payload) override { std::ranges::copy(payload, memory_.begin()); }

 private:
  std::vector<std::byte>& memory_;
};

void fail(Inbox&) {
  throw std::runtime_error("a handler throws");
}

TEST(Engine, AnAnswerThatComesWhenItsCallHasThrownIsDropped) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{10'000}}) {  // with its header, and by itself
    const auto transport = std::make_shared<HalfTransport>();
    Engine engine(transport, true);
    PlayedNetwork& network = *transport->network;
    std::vector<std::byte> memory(bytes);
    const auto request = std::make_shared<ToMemory>(memory);
    engine.ask(1, {.kind = MessageKind::get, .bytes = bytes}, {}, request);
    network.script.emplace_back(fail);
    EXPECT_THROW(Event(engine, request).wait_or_abandon(), std::runtime_error);
    const std::vector<std::byte> answer(bytes, std::byte{1});
    const Header header{.kind = MessageKind::got, .bytes = bytes, .cookie = network.messages.at(0).cookie};
    network.script.emplace_back([&](Inbox& inbox) {
      std::span<const std::byte> payload(answer);
      if (bytes > max_inline_bytes) {
        std::byte* const place = inbox.place(1, header);
        std::ranges::copy(answer, place);
        payload = {place, bytes};
      }
      inbox.deliver(1, header, payload);
    });
    engine.progress();
    EXPECT_EQ(std::ranges::count(memory, std::byte{1}), 0);
  }
}

TEST(Engine, ACallThatThrowsWaitsForWhatTheNetworkIsWriting) {
  const auto transport = std::make_shared<HalfTransport>();
  Engine engine(transport, true);
  PlayedNetwork& network = *transport->network;
  std::vector<std::byte> memory(10'000);
  const auto request = std::make_shared<ToMemory>(memory);
  engine.ask(1, {.kind = MessageKind::get, .bytes = memory.size()}, {}, request);
  const Header header{.kind = MessageKind::got, .bytes = memory.size(), .cookie = network.messages.at(0).cookie};
  std::byte* place = nullptr;
  bool is_written = false;
  network.script = {[&](Inbox& inbox) { place = inbox.place(1, header); }, fail, fail, [](Inbox&) {},
                    [&](Inbox& inbox) {
                      is_written = true;
                      inbox.deliver(1, header, {place, memory.size()});
                    }};
  EXPECT_THROW(Event(engine, request).wait_or_abandon(), std::runtime_error);
  EXPECT_EQ(place, memory.data());
  EXPECT_TRUE(is_written);
}

TEST(Engine, AnswersWhoUsesASegmentThatIsFreed) {
  const auto transport = std::make_shared<HalfTransport>();
  Engine engine(transport, true);
  PlayedNetwork& network = *transport->network;
  const std::vector<std::byte> payload(10'000);
  for (const MessageKind kind :
       {MessageKind::put, MessageKind::put_layout, MessageKind::get, MessageKind::get_layout, MessageKind::atomic}) {
    const Header header{.kind = kind, .target = 7, .bytes = payload.size(), .cookie = 3};
    network.messages.clear();
    network.script.emplace_back([&](Inbox& inbox) { inbox.deliver(1, header, {inbox.place(1, header), 10'000}); });
    EXPECT_NO_THROW(engine.progress());
    ASSERT_EQ(network.messages.size(), 1U);
    EXPECT_EQ(network.messages[0].kind, MessageKind::refused);
    EXPECT_EQ(network.messages[0].cookie, 3U);
  }
  // Who has put without asking for an answer cannot be told.
  network.script.emplace_back([&](Inbox& inbox) { inbox.deliver(1, {.kind = MessageKind::put, .target = 7}, {}); });
  EXPECT_TRUE(fails_with({"rank 1", "freed"}, [&] { engine.progress(); }));
}

TEST(Engine, TellsWhoHasAskedThatTheSegmentIsFreed) {
  const auto transport = std::make_shared<HalfTransport>();
  Engine engine(transport, true);
  PlayedNetwork& network = *transport->network;
  const auto request = std::make_shared<Request>();
  engine.ask(1, {.kind = MessageKind::put, .target = 7}, {}, request);
  network.script.emplace_back([&](Inbox& inbox) {
    inbox.deliver(1, {.kind = MessageKind::refused, .cookie = network.messages.at(0).cookie}, {});
  });
  const std::vector<Event> events{Event(engine, request)};
  Event all = all_of(events);
  EXPECT_TRUE(fails_with({"rank 1", "freed"}, [&] { all.wait(); }));
}

TEST(Engine, ForgetsTheHandlersOfATableThatCouldNotBeMade) {
  auto owned = std::make_unique<HalfTransport>();
  HalfTransport& transport = *owned;
  const Team team = make_world(std::move(owned));
  std::uint32_t next_table = team.parts().engine->add_table([](int, const Header&, auto) {});
  ++next_table;
  transport.gathers_left = 1;  // the ranks agree on the number of handlers, then one dies
  bool is_run = false;
  EXPECT_THROW(ActiveMessages(team, {[&](const ActiveMessages::Message&) { is_run = true; }}), std::runtime_error);
  transport.network->script.emplace_back(
      [&](Inbox& inbox) { inbox.deliver(1, {.kind = MessageKind::active, .target = next_table}, {}); });
  EXPECT_TRUE(fails_with({"rank 1", "table"}, [&] { team.poll(); }));
  EXPECT_FALSE(is_run);
}

}  // namespace
}  // namespace penstock::gas
