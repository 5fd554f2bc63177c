#include "penstock/timeline/records.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace penstock::timeline {
namespace {

/// Appends values and texts to bytes.
class ByteWriter {
 public:
  template <class T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void text(std::string_view text) {
    value(text.size());
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads them in the same order.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  T value() {
    T value;
    std::memcpy(&value, next(sizeof value), sizeof value);
    return value;
  }
  std::string text() {
    const auto bytes = value<std::size_t>();
    return {reinterpret_cast<const char*>(next(bytes)), bytes};
  }

 private:
  const std::byte* next(std::size_t bytes) {
    PENSTOCK_ASSERT(bytes <= bytes_.size());
    const std::byte* const at = bytes_.data();
    bytes_ = bytes_.subspan(bytes);
    return at;
  }

  std::span<const std::byte> bytes_;
};

}  // namespace

// Events travel as they are, but for their names: the number of each in a list.
std::vector<std::byte> pack(const trace::Recorder& recorder, const Clock& first, const Clock& last) {
  std::map<std::string_view, std::uintptr_t> numbers;
  std::vector<Row> rows;
  for (const trace::Track* track : recorder.tracks()) {
    Row row{.name = track->name(), .dropped = track->dropped(), .events = track->events()};
    for (trace::Event& event : row.events) {
      const auto number = numbers.emplace(event.name, numbers.size()).first->second;
      event.name = reinterpret_cast<const char*>(number);
    }
    rows.push_back(std::move(row));
  }
  std::stable_partition(rows.begin(), rows.end(), [](const Row& row) { return row.name == trace::steps_track; });
  std::vector<std::string_view> names(numbers.size());
  for (const auto& [name, number] : numbers) {
    names[number] = name;
  }
  ByteWriter writer;
  writer.value(first);
  writer.value(last);
  writer.value(names.size());
  for (const std::string_view name : names) {
    writer.text(name);
  }
  writer.value(rows.size());
  for (const Row& row : rows) {
    writer.text(row.name);
    writer.value(row.dropped);
    writer.value(row.events.size());
    for (const trace::Event& event : row.events) {
      writer.value(event);
    }
  }
  return writer.take();
}

Record unpack(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  Record record;
  record.first = reader.value<Clock>();
  record.last = reader.value<Clock>();
  const auto names = reader.value<std::size_t>();
  for (std::size_t i = 0; i < names; ++i) {
    record.names.push_back(reader.text());
  }
  const auto rows = reader.value<std::size_t>();
  for (std::size_t i = 0; i < rows; ++i) {
    Row row{.name = reader.text(), .dropped = reader.value<std::int64_t>(), .events = {}};
    const auto events = reader.value<std::size_t>();
    for (std::size_t j = 0; j < events; ++j) {
      auto event = reader.value<trace::Event>();
      event.name = record.names[reinterpret_cast<std::uintptr_t>(event.name)].c_str();
      event.begin_s += offset_at(event.begin_s, record.first, record.last);
      event.end_s += offset_at(event.end_s, record.first, record.last);
      row.events.push_back(event);
    }
    std::ranges::stable_sort(row.events, [](const trace::Event& a, const trace::Event& b) {
      return a.begin_s != b.begin_s ? a.begin_s < b.begin_s : a.end_s > b.end_s;
    });
    record.rows.push_back(std::move(row));
  }
  return record;
}

Causes::Causes(const std::vector<Record>& records) {
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    for (std::size_t row = 0; row < records[rank].rows.size(); ++row) {
      for (const trace::Event& event : records[rank].rows[row].events) {
        if (event.id != 0) {
          named_.push_back({event.id, {static_cast<int>(rank), row, &event}});
        }
      }
    }
  }
  std::ranges::sort(named_, [](const Named& a, const Named& b) {
    return std::tie(a.id, a.cause.event->begin_s) < std::tie(b.id, b.cause.event->begin_s);
  });
}

// A signal is seen before the event that has changed it ends: the begins of events tell which one came before an end.
Cause Causes::of(int rank, const trace::Event& event) const {
  const bool is_collective = event.category == trace::Category::collective;
  const std::uint64_t id = is_collective ? event.id : event.after;
  if (id == 0) {
    return {};
  }
  const auto named = std::ranges::equal_range(named_, id, {}, &Named::id);
  Cause cause;
  std::vector<int> seen;  // ranks: of each the first event is its arrival at a collective call
  for (const Named& each : named) {
    if (each.cause.event->begin_s > event.end_s) {
      break;
    }
    if (!is_collective) {
      cause = each.cause;
    } else if (std::ranges::find(seen, each.cause.rank) == seen.end()) {
      seen.push_back(each.cause.rank);
      cause = each.cause;
    }
  }
  return is_collective && cause.rank == rank ? Cause() : cause;
}

}  // namespace penstock::timeline
