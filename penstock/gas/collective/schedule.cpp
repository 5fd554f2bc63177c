#include "penstock/gas/collective/schedule.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "penstock/gas/core/message.hpp"

namespace penstock::gas {
namespace {

using Kind = Step::Kind;

/// Trees pass long data on in pieces of about this much, so that the ranks below work while those above do: long
/// enough to cost little beside their messages, short enough to stay in cache.
constexpr std::size_t tree_piece_bytes = std::size_t{128} << 10;

/// Calls `visit(offset, bytes)` for each piece, of whole elements; once for no bytes.
template <class Visit>
void for_each_piece(std::size_t bytes, std::size_t element_bytes, const Visit& visit) {
  const std::size_t most = std::max(tree_piece_bytes / element_bytes, std::size_t{1}) * element_bytes;
  std::size_t offset = 0;
  do {
    const std::size_t piece = std::min(most, bytes - offset);
    visit(offset, piece);
    offset += piece;
  } while (offset < bytes);
}

void copy_unless_same(Schedule& schedule, std::span<const std::byte> from, std::byte* to) {
  if (from.data() != to && !from.empty()) {
    schedule.steps.push_back({.kind = Kind::copy, .from = from.data(), .to = to, .bytes = from.size()});
  }
}

/// The binomial tree around a root: ranks are counted from it.
class Tree {
 public:
  Tree(Member me, int root) : me_(me), root_(root), place_((me.rank - root + me.size) % me.size) {}

  bool is_root() const noexcept { return place_ == 0; }
  int parent() const noexcept { return rank_at(place_ & (place_ - 1)); }
  /// From the nearest to the farthest, which has the largest tree below it.
  std::vector<int> children() const {
    std::vector<int> ranks;
    for (int bit = 1; (place_ & bit) == 0 && place_ + bit < me_.size; bit <<= 1) {
      ranks.push_back(rank_at(place_ + bit));
    }
    return ranks;
  }

 private:
  int rank_at(int place) const noexcept { return (place + root_) % me_.size; }

  Member me_;
  int root_;
  int place_;
};

void add_recursive_doubling(Schedule& schedule, Member me, std::span<std::byte> result) {
  const auto send = [&](int peer) {
    schedule.steps.push_back({.kind = Kind::send, .peer = peer, .from = result.data(), .bytes = result.size()});
  };
  const auto take = [&](Kind kind, int peer) {
    schedule.steps.push_back({.kind = kind, .peer = peer, .to = result.data(), .bytes = result.size()});
  };
  // Of ranks beyond a power of two each gives its part to a partner first, and has the result from it last.
  const int pairs = static_cast<int>(std::bit_floor(static_cast<unsigned>(me.size)));
  if (me.rank >= pairs) {
    send(me.rank - pairs);
    take(Kind::receive, me.rank - pairs);
    return;
  }
  const bool has_partner = me.rank + pairs < me.size;
  if (has_partner) {
    take(Kind::combine_as_right, me.rank + pairs);
  }
  for (int bit = 1; bit < pairs; bit <<= 1) {
    // The lower rank's part is the left operand on both sides, so that both get the same bits.
    const int peer = me.rank ^ bit;
    send(peer);
    take(peer < me.rank ? Kind::combine_as_left : Kind::combine_as_right, peer);
  }
  if (has_partner) {
    send(me.rank + pairs);
  }
}

void add_ring(Schedule& schedule, Member me, std::span<std::byte> result, std::size_t element_bytes) {
  const std::size_t elements = result.size() / element_bytes;
  const auto share = [&](int number) {
    const auto k = static_cast<std::size_t>((number + 2 * me.size) % me.size);
    const auto size = static_cast<std::size_t>(me.size);
    const std::size_t first = elements * k / size * element_bytes;
    return result.subspan(first, elements * (k + 1) / size * element_bytes - first);
  };
  const int next = (me.rank + 1) % me.size;
  const int previous = (me.rank + me.size - 1) % me.size;
  // Sends and receives by turns: both are among the steps that may be under way.
  const auto pass = [&](std::span<std::byte> sent, Kind kind, std::span<std::byte> taken) {
    const std::span<std::byte> longer = sent.size() > taken.size() ? sent : taken;
    for_each_piece(longer.size(), element_bytes, [&](std::size_t offset, std::size_t bytes) {
      if (offset == 0 || offset < sent.size()) {
        schedule.steps.push_back({.kind = Kind::send,
                                  .peer = next,
                                  .from = sent.data() + offset,
                                  .bytes = std::min(bytes, sent.size() - offset)});
      }
      if (offset == 0 || offset < taken.size()) {
        schedule.steps.push_back({.kind = kind,
                                  .peer = previous,
                                  .to = taken.data() + offset,
                                  .bytes = std::min(bytes, taken.size() - offset)});
      }
    });
  };
  for (int step = 0; step < me.size - 1; ++step) {
    pass(share(me.rank - step), Kind::combine_as_left, share(me.rank - step - 1));
  }
  for (int step = 0; step < me.size - 1; ++step) {
    pass(share(me.rank + 1 - step), Kind::receive, share(me.rank - step));
  }
}

/// Every message tells how long the whole call is on its sender.
void tell_all(Schedule& schedule, std::size_t bytes) {
  for (Step& step : schedule.steps) {
    step.tells = bytes;
  }
}

template <class Visit>
void for_each_pair(Member me, const Visit& visit) {
  for (int distance = 1; distance < me.size; ++distance) {
    visit((me.rank + distance) % me.size, (me.rank - distance + me.size) % me.size);
  }
}

}  // namespace

std::string_view name_of(CollectiveKind kind) {
  static constexpr std::array<std::string_view, 7> names{"barrier", "broadcast",  "reduce",  "all_reduce",
                                                         "gather",  "all_gather", "exchange"};
  return names[static_cast<std::size_t>(kind)];
}

void Schedule::clear(CollectiveKind of, int with_root) {
  kind = of;
  root = with_root;
  steps.clear();
  combination = {1, nullptr};
  is_independent = false;
  layouts.clear();
  scratch.clear();
}

void schedule_barrier(Schedule& schedule, Member me) {
  schedule.clear(CollectiveKind::barrier);
  // A byte that all steps touch keeps the rounds in order.
  schedule.scratch.resize(1);
  std::byte* const token = schedule.scratch.data();
  for (int distance = 1; distance < me.size; distance *= 2) {
    schedule.steps.push_back({.kind = Kind::send, .peer = (me.rank + distance) % me.size, .from = token, .bytes = 1});
    schedule.steps.push_back(
        {.kind = Kind::receive, .peer = (me.rank - distance + me.size) % me.size, .to = token, .bytes = 1});
  }
  tell_all(schedule, 0);
}

void schedule_broadcast(Schedule& schedule, Member me, std::span<std::byte> data, int root) {
  schedule.clear(CollectiveKind::broadcast, root);
  const Tree tree(me, root);
  std::vector<int> children = tree.children();
  std::ranges::reverse(children);
  for_each_piece(data.size(), 1, [&](std::size_t offset, std::size_t bytes) {
    if (!tree.is_root()) {
      schedule.steps.push_back(
          {.kind = Kind::receive, .peer = tree.parent(), .to = data.data() + offset, .bytes = bytes});
    }
    for (const int child : children) {
      schedule.steps.push_back({.kind = Kind::send, .peer = child, .from = data.data() + offset, .bytes = bytes});
    }
  });
  tell_all(schedule, data.size());
}

void schedule_reduce(Schedule& schedule, Member me, std::span<const std::byte> mine, std::span<std::byte> result,
                     int root, const Combination& combination) {
  schedule.clear(CollectiveKind::reduce, root);
  schedule.combination = combination;
  const Tree tree(me, root);
  const std::vector<int> children = tree.children();
  const std::byte* sent = mine.data();
  std::byte* sum = result.data();
  if (!tree.is_root() && !children.empty()) {
    schedule.scratch.resize(mine.size());
    sum = schedule.scratch.data();
    sent = sum;
  }
  for_each_piece(mine.size(), combination.element_bytes, [&](std::size_t offset, std::size_t bytes) {
    if (tree.is_root() || !children.empty()) {
      copy_unless_same(schedule, mine.subspan(offset, bytes), sum + offset);
    }
    for (const int child : children) {
      schedule.steps.push_back({.kind = Kind::combine_as_right, .peer = child, .to = sum + offset, .bytes = bytes});
    }
    if (!tree.is_root()) {
      schedule.steps.push_back({.kind = Kind::send, .peer = tree.parent(), .from = sent + offset, .bytes = bytes});
    }
  });
  tell_all(schedule, mine.size());
}

void schedule_all_reduce(Schedule& schedule, Member me, std::span<const std::byte> mine, std::span<std::byte> result,
                         const Combination& combination) {
  schedule.clear(CollectiveKind::all_reduce);
  schedule.combination = combination;
  copy_unless_same(schedule, mine, result.data());
  if (result.size() <= max_inline_bytes) {
    add_recursive_doubling(schedule, me, result);
  } else {
    add_ring(schedule, me, result, combination.element_bytes);
  }
  tell_all(schedule, result.size());
}

void schedule_gather(Schedule& schedule, Member me, std::span<const std::byte> mine, std::span<std::byte> all,
                     int root) {
  schedule.clear(CollectiveKind::gather, root);
  schedule.is_independent = true;
  const auto part = [&](int rank) { return all.data() + static_cast<std::size_t>(rank) * mine.size(); };
  if (me.rank != root) {
    schedule.steps.push_back({.kind = Kind::send, .peer = root, .from = mine.data(), .bytes = mine.size()});
  } else {
    for_each_pair(me, [&](int, int source) {
      schedule.steps.push_back({.kind = Kind::receive, .peer = source, .to = part(source), .bytes = mine.size()});
    });
    copy_unless_same(schedule, mine, part(root));
  }
  tell_all(schedule, mine.size());
}

void schedule_all_gather(Schedule& schedule, Member me, std::span<const std::byte> mine, std::span<std::byte> all) {
  schedule.clear(CollectiveKind::all_gather);
  schedule.is_independent = true;
  const auto part = [&](int rank) { return all.data() + static_cast<std::size_t>(rank) * mine.size(); };
  for_each_pair(me, [&](int target, int source) {
    schedule.steps.push_back({.kind = Kind::send, .peer = target, .from = mine.data(), .bytes = mine.size()});
    schedule.steps.push_back({.kind = Kind::receive, .peer = source, .to = part(source), .bytes = mine.size()});
  });
  copy_unless_same(schedule, mine, part(me.rank));
  tell_all(schedule, mine.size());
}

void schedule_exchange(Schedule& schedule, Member me, std::span<const std::byte> send, std::span<std::byte> receive) {
  schedule.clear(CollectiveKind::exchange);
  schedule.is_independent = true;
  const std::size_t bytes = send.size() / static_cast<std::size_t>(me.size);
  const auto offset = [&](int rank) { return static_cast<std::size_t>(rank) * bytes; };
  schedule.steps.reserve(2 * static_cast<std::size_t>(me.size) - 1);
  for_each_pair(me, [&](int target, int source) {
    schedule.steps.push_back(
        {.kind = Kind::send, .peer = target, .from = send.data() + offset(target), .bytes = bytes, .tells = bytes});
    schedule.steps.push_back(
        {.kind = Kind::receive, .peer = source, .to = receive.data() + offset(source), .bytes = bytes, .tells = bytes});
  });
  copy_unless_same(schedule, send.subspan(offset(me.rank), bytes), receive.data() + offset(me.rank));
}

void schedule_exchange(Schedule& schedule, Member me, std::span<const SendBlock> send,
                       std::span<const ReceiveBlock> receive) {
  schedule.clear(CollectiveKind::exchange);
  schedule.is_independent = true;
  schedule.steps.reserve(2 * send.size() - 1);
  schedule.layouts.reserve(2 * send.size());
  // A layout that is one run is an offset.
  const auto keep = [&](const layout::Layout& layout) {
    return layout.is_contiguous() ? nullptr : &schedule.layouts.emplace_back(layout);
  };
  const auto offset = [](const layout::Layout& layout) { return layout.is_contiguous() ? layout.lower_bound() : 0; };
  const auto length = [](const layout::Layout& layout) { return static_cast<std::size_t>(layout.bytes()); };
  const auto add = [&](Kind kind, int peer) {
    const SendBlock& given = send[static_cast<std::size_t>(peer)];
    const ReceiveBlock& taken = receive[static_cast<std::size_t>(peer)];
    Step step{.kind = kind, .peer = peer, .bytes = length(kind == Kind::send ? given.layout : taken.layout)};
    if (kind != Kind::receive) {
      step.from = given.data + offset(given.layout);
      step.from_layout = keep(given.layout);
    }
    if (kind != Kind::send) {
      step.to = taken.data + offset(taken.layout);
      step.to_layout = keep(taken.layout);
    }
    // Each tells the other what it expects from it.
    step.tells = length(kind == Kind::send ? taken.layout : given.layout);
    schedule.steps.push_back(step);
  };
  for_each_pair(me, [&](int target, int source) {
    add(Kind::send, target);
    add(Kind::receive, source);
  });
  add(Kind::copy, me.rank);
}

}  // namespace penstock::gas
