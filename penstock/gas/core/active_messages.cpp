// Active messages: a rank calls a handler on another.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/collective/collective_registry.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/segment_state.hpp"
#include "penstock/gas/core/team_parts.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::gas {
namespace {

Header call_of(std::uint32_t table, std::size_t handler, const ActiveMessages::Arguments& arguments,
               std::size_t payload_bytes) {
  return {.kind = MessageKind::active,
          .operation = static_cast<std::uint16_t>(handler),
          .target = table,
          .bytes = payload_bytes,
          .a = arguments[0],
          .b = arguments[1],
          .cookie = arguments[2]};
}

constexpr std::size_t max_handlers = std::size_t{1} << 8 * sizeof(Header::operation);

void check_payload(std::size_t bytes) {
  if (bytes > ActiveMessages::max_payload_bytes) {
    throw Error(fmt::format("an active message of {} bytes: at most {} are copied; use call_long", bytes,
                            ActiveMessages::max_payload_bytes));
  }
}

}  // namespace

struct ActiveMessages::State {
  struct Endpoint {
    int world_rank;
    std::uint32_t table;
  };

  const Team& team;
  Engine& engine;
  std::vector<Handler> handlers;
  std::vector<Endpoint> endpoints;  // by rank of the team
  std::vector<int> rank_of_world;   // by rank of the world; -1 for who is not in the team
  std::atomic<std::uint64_t> sent = 0;
  std::atomic<std::uint64_t> handled = 0;
  std::uint32_t table = 0;                      // by which messages name it; 0 while there is none
  int exceptions = std::uncaught_exceptions();  // at the beginning

  State(const Team& of, std::vector<Handler> its_handlers)
      : team(of), engine(*of.parts().engine), handlers(std::move(its_handlers)) {}
  ~State() {
    if (table != 0) {
      engine.remove_table(table);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const Endpoint& check(int peer, std::size_t handler) const {
    if (peer < 0 || static_cast<std::size_t>(peer) >= endpoints.size()) {
      throw Error(fmt::format("an active message goes to rank {}, and the team has {}", peer, endpoints.size()));
    }
    if (handler >= handlers.size()) {
      throw Error(fmt::format("an active message calls handler {}, and the table has {}", handler, handlers.size()));
    }
    return endpoints[static_cast<std::size_t>(peer)];
  }
};

ActiveMessages::ActiveMessages(const Team& team, std::vector<Handler> handlers)
    : state_(std::make_unique<State>(team, std::move(handlers))) {
  static_assert(max_payload_bytes == max_inline_bytes);
  const std::size_t handler_count = state_->handlers.size();
  team.agree(handler_count > max_handlers
                 ? fmt::format("a table of {} handlers of active messages: at most {} fit", handler_count, max_handlers)
                 : "");
  team.agree_on("number of handlers of active messages", std::to_string(handler_count));
  const auto run = [this](int source, const Header& header, std::optional<std::span<const std::byte>> payload) {
    /// A message counts as handled whatever comes of it.
    struct Count {
      std::atomic<std::uint64_t>& handled;
      ~Count() { handled.fetch_add(1, std::memory_order_relaxed); }
    };
    const Count count{state_->handled};
    Message message;
    message.messages_ = this;
    message.source_ = state_->rank_of_world[static_cast<std::size_t>(source)];
    message.arguments_ = {header.a, header.b, header.cookie};
    if (!payload.has_value()) {
      throw Error(fmt::format("a long active message of rank {} has come for a segment that this rank has freed",
                              message.source_));
    }
    message.payload_ = *payload;
    state_->handlers[header.operation](message);
  };
  state_->table = state_->engine.add_table(run);
  const State::Endpoint mine{.world_rank = team.world_rank(team.rank()), .table = state_->table};
  state_->endpoints = team.all_gather(mine);
  for (std::size_t rank = 0; rank < state_->endpoints.size(); ++rank) {
    const auto world_rank = static_cast<std::size_t>(state_->endpoints[rank].world_rank);
    state_->rank_of_world.resize(std::max(state_->rank_of_world.size(), world_rank + 1), -1);
    state_->rank_of_world[world_rank] = static_cast<int>(rank);
  }
  team.barrier();  // nobody calls before all can look up who does
}

ActiveMessages::~ActiveMessages() {
  // A rank on which something was thrown does not meet the others, who wait for it elsewhere: they learn of its end.
  const bool is_unwinding = std::uncaught_exceptions() > state_->exceptions;
  if (!is_unwinding) {
    finish();
  }
}

void ActiveMessages::finish() noexcept {
  const auto handle_all = [this] {
    // Replies may follow on what is handled last: done when nothing was sent between two polls.
    std::uint64_t sent_before = ~std::uint64_t{0};
    for (;;) {
      std::uint64_t sent = 0;
      std::uint64_t handled = 0;
      for (const auto& [s, h] : state_->team.all_gather(std::pair(state_->sent.load(), state_->handled.load()))) {
        sent += s;
        handled += h;
      }
      if (sent == handled && sent == sent_before) {
        break;
      }
      sent_before = sent;
      state_->engine.progress();
    }
  };
  try {
    state_->team.run_or_revoke(handle_all);
  } catch (...) {
    // A peer has failed, or a handler: whoever waits next is told.
  }
}

void ActiveMessages::Message::reply(std::size_t handler, const Arguments& arguments,
                                    std::span<const std::byte> payload) const {
  State& state = *messages_->state_;
  const State::Endpoint& endpoint = state.check(source_, handler);
  check_payload(payload.size());
  state.sent.fetch_add(1, std::memory_order_relaxed);
  state.engine.send_locked(endpoint.world_rank, call_of(endpoint.table, handler, arguments, payload.size()), payload);
}

void ActiveMessages::call(int peer, std::size_t handler, const Arguments& arguments,
                          std::span<const std::byte> payload) {
  const State::Endpoint& endpoint = state_->check(peer, handler);
  check_payload(payload.size());
  state_->sent.fetch_add(1, std::memory_order_relaxed);
  state_->engine.send(endpoint.world_rank, call_of(endpoint.table, handler, arguments, payload.size()), payload);
}

Event ActiveMessages::call_long(Pointer<> to, Segment& segment, std::span<const std::byte> payload, std::size_t handler,
                                const Arguments& arguments) {
  const State::Endpoint& endpoint = state_->check(to.rank, handler);
  const Segment::State::PeerSegment& part =
      segment.state_->check("a long active message", payload.data(), to.rank, to.offset, payload.size());
  if (part.world_rank != endpoint.world_rank) {
    throw Error(
        fmt::format("a long active message to rank {}, which is rank {} of the world in the segment's team and {} "
                    "in that of the handlers: they must be the same",
                    to.rank, part.world_rank, endpoint.world_rank));
  }
  Header header = call_of(endpoint.table, handler, arguments, payload.size());
  header.kind = MessageKind::active_long;
  header.offset = to.offset;
  header.signal = part.id;
  state_->sent.fetch_add(1, std::memory_order_relaxed);
  if (std::byte* base = segment.address_at(to.rank); base != nullptr) {
    std::copy(payload.begin(), payload.end(), base + to.offset);
    state_->engine.send(endpoint.world_rank, header, {});
    return {};
  }
  auto sent = std::make_shared<Completion>();
  state_->engine.send(endpoint.world_rank, header, payload, sent);
  return {state_->engine, std::move(sent), state_->team.parts().calls->revocation()};
}

}  // namespace penstock::gas
