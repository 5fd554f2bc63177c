// How the exchanges of a transform are run: what planning chooses, and what is remembered of it. Included by shape.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/shape/box.hpp"

namespace penstock::shape {

/// What a rank receives in an exchange is cut into so many parts, some of which may be deferred.
inline constexpr std::int64_t exchange_parts = 8;

/// The two published algorithms are the ends of one scale: "packed slabs" has all planes in one message, "slabs" one
/// plane in each (Nishtala et al. 2009).
struct Tuning {
  Grid grid{};
  /// Planes of the sender that share a message to a peer; 0: all.
  std::int64_t planes_per_message = 0;
  /// The last parts, 0 to 7 of `exchange_parts`, of what each peer receives, in the order in which it reads. They are
  /// sent last, so that the peer transforms the others meanwhile.
  std::int64_t deferred_parts = 0;

  bool operator==(const Tuning&) const = default;
};

/// As text: "2x3 planes_per_message 4 deferred_parts 1". `tuning_from` reads that, or returns nothing for other text
/// and for values out of range.
std::string to_text(const Tuning& tuning);
std::optional<Tuning> tuning_from(std::string_view text);

}  // namespace penstock::shape
