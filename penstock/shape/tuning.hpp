// How the exchanges of a transform are run: what planning chooses and wisdom remembers. Included by shape.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/shape/box.hpp"

#pragma GCC visibility push(default)

namespace penstock::shape {

/// The number of parts of what a rank receives in an exchange; some of the parts may be deferred.
inline constexpr std::int64_t exchange_parts = 8;

/// How a plan's exchanges are run. Two published algorithms are the ends of the scale of planes per message: "packed
/// slabs" has all planes in one message, "slabs" one plane in each (Nishtala et al. 2009).
struct Tuning {
  Grid grid{};
  /// Planes of the sender that share a message to a peer; 0: all.
  std::int64_t planes_per_message = 0;
  /// The number of deferred parts, 0 to 7 of `exchange_parts`: those that each peer reads last. Deferred parts are sent
  /// last, so that the peer transforms the others meanwhile.
  std::int64_t deferred_parts = 0;

  bool operator==(const Tuning&) const = default;
};

/// A tuning as text, such as "2x3 planes_per_message 4 deferred_parts 1". `tuning_from` reads such text; it returns
/// nothing for other text and for values out of range.
std::string to_text(const Tuning& tuning);
std::optional<Tuning> tuning_from(std::string_view text);

}  // namespace penstock::shape

#pragma GCC visibility pop
