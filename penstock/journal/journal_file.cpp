// A line is its text, a blank, the checksum of the text in 16 digits, and the end of the line.
#include "penstock/journal/journal_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <optional>
#include <utility>

#include "penstock/base/checksum.hpp"
#include "penstock/base/error.hpp"

namespace penstock::journal {
namespace {

constexpr std::size_t digits = 16;

std::string sum_of(std::string_view text) {
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(text))));
}

std::string line_of(const std::string& text) {
  return fmt::format("{} {}\n", text, sum_of(text));
}

File open_alone(const std::string& path) {
  std::optional<File> file = File::open_locked(path);
  if (!file) {
    throw Error(fmt::format("another process is at work on '{}': wait for its end", path));
  }
  return std::move(*file);
}

}  // namespace

Journal::Journal(const std::string& path) : file_(open_alone(path)) {
  std::string text(static_cast<std::size_t>(file_.size()), '\0');
  file_.read(0, std::as_writable_bytes(std::span(text)));
  read(text);
}

std::string Journal::fact(const std::string& key) const {
  const auto found = facts_.find(key);
  return found == facts_.end() ? "" : found->second;
}

std::vector<std::string> Journal::kinds() const {
  std::vector<std::string> kinds;
  for (const auto& [kind, pieces] : pieces_) {
    kinds.push_back(kind);
  }
  return kinds;
}

const Journal::Pieces& Journal::pieces(const std::string& kind) const {
  static const Pieces none;
  const auto found = pieces_.find(kind);
  return found == pieces_.end() ? none : found->second;
}

void Journal::read(std::string_view text) {
  while (true) {
    const std::size_t length = text.find('\n');
    if (length == std::string_view::npos || length < digits + 1) {
      return;
    }
    const std::string_view line = text.substr(0, length - digits - 1);
    if (text.substr(length - digits, digits) != sum_of(line)) {
      return;
    }
    take(line);
    end_ += static_cast<std::int64_t>(length) + 1;
    text.remove_prefix(length + 1);
  }
}

void Journal::take(std::string_view line) {
  const std::string owned(line);
  std::array<char, 32> kind{};
  long long number = 0;
  unsigned long long sum = 0;
  if (std::sscanf(owned.c_str(), "piece %31s %lld %llx", kind.data(), &number, &sum) == 3) {
    pieces_[kind.data()][number] = sum;
  } else if (std::sscanf(owned.c_str(), "lost %31s %lld", kind.data(), &number) == 2) {
    pieces_[kind.data()].erase(number);
  } else if (line == "begun") {
    has_begun_ = true;
  } else if (line == "complete") {
    is_complete_ = true;
  } else {
    const std::size_t blank = line.find(' ');
    facts_[owned.substr(0, blank)] = blank == std::string_view::npos ? "" : owned.substr(blank + 1);
  }
}

void Journal::append(const std::string& lines) {
  file_.write(end_, std::as_bytes(std::span(lines)));
  end_ += std::ssize(lines);
}

void Journal::begin(const std::vector<std::pair<std::string, std::string>>& facts) {
  file_.truncate();
  end_ = 0;
  facts_.clear();
  pieces_.clear();
  is_complete_ = false;
  std::string lines;
  for (const auto& [key, value] : facts) {
    lines += line_of(fmt::format("{} {}", key, value));
    facts_[key] = value;
  }
  append(lines + line_of("begun"));
  has_begun_ = true;
}

void Journal::add(const std::string& kind, std::int64_t first, std::span<const std::uint64_t> sums) {
  std::string lines;
  Pieces& pieces = pieces_[kind];
  for (std::int64_t number = first; const std::uint64_t sum : sums) {
    lines += line_of(fmt::format("piece {} {} {:x}", kind, number, sum));
    pieces[number++] = sum;
  }
  append(lines);
}

void Journal::forget(const std::string& kind, std::int64_t number) {
  append(line_of(fmt::format("lost {} {}", kind, number)));
  pieces_[kind].erase(number);
}

void Journal::complete() {
  append(line_of("complete"));
  is_complete_ = true;
  file_.sync();
}

void Journal::remove() {
  unlink(file_.path().c_str());
}

}  // namespace penstock::journal
