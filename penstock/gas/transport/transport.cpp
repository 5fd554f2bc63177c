#include "penstock/gas/transport/transport.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock::gas {
namespace {

// A transport whose peers are all local is never asked for messages.
[[noreturn]] void refuse_messages(const Transport& transport) {
  throw Error("the transport '" + transport.traits().name + "' has no messages");
}

}  // namespace

std::unique_ptr<Channel> Transport::send_channel(int, std::span<const std::byte>, std::size_t) {
  refuse_messages(*this);
}

std::unique_ptr<Channel> Transport::receive_channel(int, std::span<std::byte>, std::size_t) {
  refuse_messages(*this);
}

bool Transport::are_all_local() const noexcept {
  for (int peer = 0; peer < size(); ++peer) {
    if (!is_local(peer)) {
      return false;
    }
  }
  return true;
}

void throw_if_any_failed(Transport& transport, std::string_view failure) {
  const int has_failed = failure.empty() ? 0 : 1;
  std::vector<int> have_failed(static_cast<std::size_t>(transport.size()));
  transport.all_gather(&has_failed, sizeof has_failed, have_failed.data());
  if (std::ranges::count(have_failed, 1) == 0) {
    return;  // texts of all ranks are much to gather
  }
  std::array<char, 1024> mine{};
  failure.copy(mine.data(), mine.size() - 1);
  std::vector<std::array<char, 1024>> all(static_cast<std::size_t>(transport.size()));
  transport.all_gather(mine.data(), mine.size(), all.data());
  for (const auto& text : all) {
    if (text[0] != '\0') {
      throw TeamFailure(text.data(), true);
    }
  }
}

}  // namespace penstock::gas
