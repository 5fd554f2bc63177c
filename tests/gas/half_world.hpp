// A world of two ranks that share nothing, of which only rank 0 is there: the test plays the network and rank 1.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {

/// Keeps what is sent; puts arrive, and messages come, when the test says so.
class PlayedNetwork final : public Network {
 public:
  class Memory final : public RemoteMemory {
   public:
    explicit Memory(PlayedNetwork& network) : network_(network) {}
    void put(std::size_t, std::span<const std::byte>, std::shared_ptr<Completion> source,
             std::shared_ptr<Completion> remote) override {
      source->finish();
      network_.puts.push_back(std::move(remote));
    }
    void put_then_set(std::size_t, std::span<const std::byte>, RemoteMemory&, const Word&,
                      std::shared_ptr<Completion> source) override {
      source->finish();
    }
    void get(std::size_t, std::span<std::byte>, std::shared_ptr<Completion>) override {}

   private:
    PlayedNetwork& network_;
  };

  NetworkTraits traits() const noexcept override { return {.name = "played", .is_one_sided = true}; }
  void send(int, const Header& header, std::span<const std::byte>, std::shared_ptr<Completion> sent) override {
    messages.push_back(header);
    if (sent != nullptr) {
      sent->finish();
    }
  }
  /// Does the next thing of the script.
  bool progress(Inbox& inbox) override {
    if (!script.empty()) {
      const auto next = std::move(script.front());
      script.pop_front();
      next(inbox);
    }
    return false;
  }

  std::vector<Header> messages;
  std::vector<std::shared_ptr<Completion>> puts;  // under way
  std::deque<std::function<void(Inbox&)>> script;
};

/// What rank 0 has of that world.
class HalfTransport final : public Transport {
 public:
  class OwnRegion final : public Region {
   public:
    explicit OwnRegion(std::size_t bytes) : memory_(bytes) {
      mine = {memory_.data(), memory_.size()};
      at = {memory_.data(), nullptr};
    }

   private:
    penstock::Memory memory_;
  };

  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 2; }
  TransportTraits traits() const override { return {.name = "half", .maps_memory = true, .network = {}}; }
  bool is_local(int peer) const noexcept override { return peer == 0; }
  bool allows_threads() const noexcept override { return true; }
  void barrier() override {}
  /// Rank 1 gives what rank 0 gives, unless the test has it fail.
  void all_gather(const void* mine, std::size_t bytes, void* all) override {
    if (gathers_left-- == 0) {
      throw std::runtime_error("rank 1 has died");
    }
    std::memcpy(all, mine, bytes);
    std::memcpy(static_cast<std::byte*>(all) + bytes, mine, bytes);
  }
  std::unique_ptr<Transport> split(int, int) override { return nullptr; }
  std::unique_ptr<Region> map(std::size_t bytes) override { return std::make_unique<OwnRegion>(bytes); }
  std::unique_ptr<Network> make_network() override {
    auto made = std::make_unique<PlayedNetwork>();
    network = made.get();
    return made;
  }

  PlayedNetwork* network = nullptr;
  int gathers_left = -1;  ///< before one fails; negative: none does
};

}  // namespace penstock::gas
