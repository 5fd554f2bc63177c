// The JSON of the Trace Event Format: complete events ("X"), names of rows ("M"), arrows ("s" to "f").
#include "penstock/percolate/trace.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace penstock::percolate {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    if (static_cast<unsigned char>(c) >= 0x20) {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace

std::int64_t Trace::begin(Event event) {
  if (events_.size() >= max_events_) {
    return -1;
  }
  event.wanted_s += begin_s_;
  event.begin_s += begin_s_;
  event.end_s += begin_s_;
  events_.push_back(std::move(event));
  return static_cast<std::int64_t>(events_.size()) - 1;
}

void Trace::end(std::int64_t number, double end_s) {
  if (number >= 0) {
    events_[static_cast<std::size_t>(number)].end_s = begin_s_ + end_s;
  }
}

std::string Trace::chrome_json() const {
  constexpr double us = 1e6;
  std::map<std::string, int> rows;
  for (const Event& event : events_) {
    rows.emplace(event.lane, 0);
  }
  std::string json = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  int next_row = 0;
  for (auto& [lane, row] : rows) {
    row = ++next_row;
    json += fmt::format(
        "{{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": {}, \"args\": {{\"name\": {}}}}},\n", row,
        quoted(lane));
  }
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    const int row = rows[event.lane];
    std::string waited = fmt::format("\"waited_ms\": {:.6f}", (event.begin_s - event.wanted_s) * 1e3);
    if (event.after >= 0) {
      const Event& cause = events_[static_cast<std::size_t>(event.after)];
      waited += fmt::format(", \"waited_for\": {}", quoted(cause.label));
      json += fmt::format(
          "{{\"ph\": \"s\", \"id\": {0}, \"name\": \"enables\", \"cat\": \"wait\", \"pid\": 1, \"tid\": {1}, \"ts\": "
          "{2:.3f}}},\n"
          "{{\"ph\": \"f\", \"bp\": \"e\", \"id\": {0}, \"name\": \"enables\", \"cat\": \"wait\", \"pid\": 1, \"tid\": "
          "{3}, \"ts\": "
          "{4:.3f}}},\n",
          i, rows[cause.lane], cause.end_s * us, row, event.begin_s * us);
    }
    json += fmt::format(
        "{{\"ph\": \"X\", \"name\": {}, \"pid\": 1, \"tid\": {}, \"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": "
        "{{{}}}}}{}\n",
        quoted(event.label), row, event.begin_s * us, (event.end_s - event.begin_s) * us, waited,
        i + 1 < events_.size() ? "," : "");
  }
  return json + "]}\n";
}

}  // namespace penstock::percolate
