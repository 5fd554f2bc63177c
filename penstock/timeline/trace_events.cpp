#include "penstock/timeline/trace_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace penstock::timeline {
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

/// Nanoseconds as the microseconds of the format.
std::string us(std::int64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

/// Complete events ("X"), names of processes and threads ("M"), arrows ("s" to "f").
class TraceEventWriter {
 public:
  TraceEventWriter(const std::vector<Record>& records, std::string_view step) : records_(records), causes_(records) {
    for (const Record& record : records) {
      for (const Row& row : record.rows) {
        for (const trace::Event& event : row.events) {
          zero_s_ = std::min(zero_s_, event.begin_s);
          if (event.category == trace::Category::step && event.name == step) {
            from_s_ = std::min(from_s_, event.begin_s);
            to_s_ = std::max(to_s_, event.end_s);
          }
        }
      }
    }
    if (step.empty()) {
      from_s_ = zero_s_;
      to_s_ = std::numeric_limits<double>::max();
    }
  }

  Collected write(const Heading& heading) {
    head(heading);
    for (std::size_t rank = 0; rank < records_.size(); ++rank) {
      describe(rank);
      for (std::size_t row = 0; row < records_[rank].rows.size(); ++row) {
        for (const trace::Event& event : records_[rank].rows[row].events) {
          if (event.begin_s < to_s_ && event.end_s > from_s_) {
            add(static_cast<int>(rank), row, event);
          }
        }
      }
    }
    text_ += "\n]}\n";
    return {.json = std::move(text_), .events = events_, .dropped = dropped_};
  }

 private:
  std::int64_t ns_of(double time_s) const { return std::llround((time_s - zero_s_) * 1e9); }

  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  void head(const Heading& heading) {
    std::string arguments;
    for (const std::string& argument : heading.arguments) {
      arguments += (arguments.empty() ? "" : ", ") + quoted(argument);
    }
    std::string clocks;
    for (const Record& record : records_) {
      for (const Row& row : record.rows) {
        dropped_ += row.dropped;
      }
      clocks +=
          fmt::format("{}[{:.9f}, {:.9f}]", clocks.empty() ? "" : ", ", record.first.offset_s, record.last.offset_s);
    }
    text_ = fmt::format(
        "{{\"displayTimeUnit\": \"ms\",\n\"penstock\": {{\"version\": {}, \"arguments\": [{}], \"ranks\": {}, "
        "\"dropped\": {}, \"clock_offsets_s\": [{}]}},\n\"traceEvents\": [",
        quoted(heading.version), arguments, records_.size(), dropped_, clocks);
  }

  void describe(std::size_t rank) {
    const Record& record = records_[rank];
    line("{{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": {}, \"args\": {{\"name\": {}}}}}", rank,
         quoted(fmt::format("rank {} ({})", rank, record.host)));
    line("{{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": {0}, \"args\": {{\"sort_index\": {0}}}}}", rank);
    for (std::size_t row = 0; row < record.rows.size(); ++row) {
      line("{{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": {}, \"tid\": {}, \"args\": {{\"name\": {}}}}}", rank,
           row, quoted(record.rows[row].name));
      line(
          "{{\"ph\": \"M\", \"name\": \"thread_sort_index\", \"pid\": {0}, \"tid\": {1}, \"args\": {{\"sort_index\": "
          "{1}}}}}",
          rank, row);
    }
  }

  void add(int rank, std::size_t row, const trace::Event& event) {
    const Cause cause = causes_.of(rank, event);
    const bool is_wait = event.category == trace::Category::wait || event.category == trace::Category::collective;
    const int peer = event.peer < 0 && is_wait && cause.rank != rank ? cause.rank : event.peer;
    std::string arguments;
    const auto argument = [&](const char* name, std::int64_t value) {
      if (value >= 0) {
        fmt::format_to(std::back_inserter(arguments), "{}\"{}\": {}", arguments.empty() ? "" : ", ", name, value);
      }
    };
    argument("stage", event.stage);
    argument("outer", event.outer);
    argument("tile", event.tile);
    argument("peer", peer);
    argument("bytes", event.bytes);
    const std::int64_t begin_ns = ns_of(event.begin_s);
    const std::int64_t end_ns = ns_of(event.end_s);
    line(
        "{{\"ph\": \"X\", \"name\": {}, \"cat\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {}, \"dur\": {}, \"args\": "
        "{{{}}}}}",
        quoted(event.name), trace::category_names[static_cast<std::size_t>(event.category)], rank, row, us(begin_ns),
        us(end_ns - begin_ns), arguments);
    ++events_;
    if (cause.rank >= 0) {
      arrow(cause, rank, row, is_wait ? std::max(begin_ns, end_ns - 1) : begin_ns);
    }
  }

  /// To the time `to_ns` of a row. Its ends are within the events that it joins.
  void arrow(const Cause& cause, int rank, std::size_t row, std::int64_t to_ns) {
    const std::int64_t from_ns = ns_of(cause.event->begin_s);
    if (from_ns > to_ns || cause.event->begin_s < from_s_) {
      return;
    }
    ++arrows_;
    line("{{\"ph\": \"s\", \"id\": {}, \"name\": \"ends\", \"cat\": \"wait\", \"pid\": {}, \"tid\": {}, \"ts\": {}}}",
         arrows_, cause.rank, cause.row, us(from_ns));
    line(
        "{{\"ph\": \"f\", \"bp\": \"e\", \"id\": {}, \"name\": \"ends\", \"cat\": \"wait\", \"pid\": {}, \"tid\": {}, "
        "\"ts\": {}}}",
        arrows_, rank, row, us(to_ns));
  }

  const std::vector<Record>& records_;
  Causes causes_;
  double zero_s_ = std::numeric_limits<double>::max();  // of the timeline
  double from_s_ = std::numeric_limits<double>::max();  // what is written
  double to_s_ = std::numeric_limits<double>::lowest();
  std::string text_;
  bool is_first_ = true;
  std::int64_t events_ = 0;
  std::int64_t dropped_ = 0;
  std::int64_t arrows_ = 0;
};

}  // namespace

Collected write_trace_events(const std::vector<Record>& records, const Heading& heading, std::string_view step) {
  return TraceEventWriter(records, step).write(heading);
}

}  // namespace penstock::timeline
