// A line is its text, a blank, the checksum of the text in 16 digits, and the end of the line.
#include "penstock/gemm/journal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "penstock/base/checksum.hpp"
#include "penstock/base/error.hpp"

namespace penstock::gemm {
namespace {

constexpr std::size_t digits = 16;

std::string sum_of(std::string_view text) {
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(text))));
}

File open_or_make(const std::string& path) {
  return std::filesystem::exists(path) ? File::open_for_writing(path) : File::create(path);
}

}  // namespace

Journal::Journal(const std::string& path) : file_(open_or_make(path)) {
  if (!file_.lock()) {
    throw Error(fmt::format("another process is at work on '{}': wait for its end", path));
  }
  std::string text(static_cast<std::size_t>(file_.size()), '\0');
  file_.read(0, std::as_writable_bytes(std::span(text)));
  read(text);
}

std::string Journal::fact(const std::string& key) const {
  const auto found = facts_.find(key);
  return found == facts_.end() ? "" : found->second;
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
  long long row = 0;
  long long column = 0;
  unsigned long long sum = 0;
  if (std::sscanf(owned.c_str(), "tile %lld %lld %llx", &row, &column, &sum) == 3) {
    tiles_[{row, column}] = sum;
  } else if (line == "begun") {
    has_begun_ = true;
  } else if (line == "complete") {
    is_complete_ = true;
  } else {
    const std::size_t blank = line.find(' ');
    facts_[owned.substr(0, blank)] = blank == std::string_view::npos ? "" : owned.substr(blank + 1);
  }
}

void Journal::append(const std::string& line) {
  const std::string text = fmt::format("{} {}\n", line, sum_of(line));
  file_.write(end_, std::as_bytes(std::span(text)));
  end_ += std::ssize(text);
}

void Journal::begin(const std::vector<std::pair<std::string, std::string>>& facts) {
  file_.reserve(0);
  end_ = 0;
  facts_.clear();
  tiles_.clear();
  is_complete_ = false;
  for (const auto& [key, value] : facts) {
    append(fmt::format("{} {}", key, value));
    facts_[key] = value;
  }
  append("begun");
  has_begun_ = true;
}

void Journal::add_tile(Tile tile, std::uint64_t sum) {
  append(fmt::format("tile {} {} {:x}", tile.first, tile.second, sum));
  tiles_[tile] = sum;
}

void Journal::complete() {
  append("complete");
  is_complete_ = true;
  file_.sync();
}

void Journal::remove() {
  unlink(file_.path().c_str());
}

}  // namespace penstock::gemm
