// Additions to nlohmann::json. A value that is nothing yet becomes an object or a list, by a key or push_back, before
// its memory is there, and its destruction ends the program where there is none: values are begun as what they will be.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace penstock::cli {

/// Adds to the list `json[key]`, which the first element makes.
inline void append(nlohmann::ordered_json& json, const char* key, nlohmann::ordered_json element) {
  if (!json.contains(key)) {
    json[key] = nlohmann::ordered_json::array();
  }
  json[key].push_back(std::move(element));
}

inline nlohmann::ordered_json or_null(const std::optional<double>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

}  // namespace penstock::cli
