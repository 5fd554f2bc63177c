#include "penstock/shape/tuning.hpp"

#include <fmt/format.h>

#include <charconv>

namespace penstock::shape {
namespace {

constexpr std::string_view planes_name = " planes_per_message ";
constexpr std::string_view deferred_name = " deferred_parts ";

/// Takes `word` from the begin of `text`, where it stands there.
bool take(std::string_view& text, std::string_view word) noexcept {
  const bool is_there = text.starts_with(word);
  text.remove_prefix(is_there ? word.size() : 0);
  return is_there;
}

template <class Number>
bool take_number(std::string_view& text, Number& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}

}  // namespace

std::string to_text(const Tuning& tuning) {
  return fmt::format("{}x{}{}{}{}{}", tuning.grid.ty, tuning.grid.tz, planes_name, tuning.planes_per_message,
                     deferred_name, tuning.deferred_parts);
}

std::optional<Tuning> tuning_from(std::string_view text) {
  Tuning tuning;
  const bool is_whole = take_number(text, tuning.grid.ty) && take(text, "x") && take_number(text, tuning.grid.tz) &&
                        take(text, planes_name) && take_number(text, tuning.planes_per_message) &&
                        take(text, deferred_name) && take_number(text, tuning.deferred_parts) && text.empty();
  const bool is_in_range = tuning.grid.ty > 0 && tuning.grid.tz > 0 && tuning.planes_per_message >= 0 &&
                           tuning.deferred_parts >= 0 && tuning.deferred_parts < exchange_parts;
  return is_whole && is_in_range ? std::optional(tuning) : std::nullopt;
}

}  // namespace penstock::shape
