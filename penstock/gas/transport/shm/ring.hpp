// A queue of messages from one rank to another of its node, in memory that both map: a short one is one cache line.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include "penstock/base/memory.hpp"
#include "penstock/base/numbers.hpp"
#include "penstock/gas/core/message.hpp"

namespace penstock::gas {

/// The form that both ends agree on. Lines of 64 bytes: first the reader's count of lines that it has read, then the
/// messages, one after the other, each in lines of its own that lie in a row: a control word, the header, and from the
/// second line on the payload. The control word is 0 until the rest is there: the writer clears that of the next
/// message before it completes one, so that the reader writes nothing but its count. All memory begins as zeros.
struct RingForm {
  static constexpr std::size_t line_bytes = cache_line_bytes;
  /// Of a ring of so many lines for messages; at least twice what the longest message takes.
  static constexpr std::size_t bytes(std::size_t lines) { return (lines + 1) * line_bytes; }
  static constexpr std::size_t lines_of(std::size_t payload_bytes) { return 1 + divide_up(payload_bytes, line_bytes); }
  static constexpr std::size_t fewest_lines = 3 * (max_inline_bytes / line_bytes);

  static constexpr std::uint64_t is_message = 1;
  static constexpr std::uint64_t is_skip = 2;  ///< what follows is at the beginning
  static constexpr int length_shift = 2;

  // Zeroed memory is what a word of 0 looks like in every process.
  static std::atomic<std::uint64_t>& word(std::byte* line) {
    return *std::launder(reinterpret_cast<std::atomic<std::uint64_t>*>(line));
  }
};

/// The end of one sender; for one thread at a time.
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(std::byte* memory, std::size_t lines) : memory_(memory), lines_(lines) {}

  /// False where there is no room yet.
  bool try_write(const Header& header, std::span<const std::byte> payload) {
    const std::size_t wanted = RingForm::lines_of(payload.size());
    const std::size_t at = written_ % lines_;
    const std::size_t skipped = at + wanted > lines_ ? lines_ - at : 0;
    const std::uint64_t end = written_ + skipped + wanted;
    if (end + 1 - read_ > lines_) {
      read_ = RingForm::word(memory_).load(std::memory_order_acquire);
      if (end + 1 - read_ > lines_) {
        return false;
      }
    }
    std::byte* const first = line(skipped > 0 ? 0 : at);
    if (end != cleared_) {
      clear(end);
    }
    if (!payload.empty()) {
      std::memcpy(first + RingForm::line_bytes, payload.data(), payload.size());
    }
    std::memcpy(first + sizeof(std::uint64_t), &header, sizeof header);
    RingForm::word(first).store(payload.size() << RingForm::length_shift | RingForm::is_message,
                                std::memory_order_release);
    if (skipped > 0) {
      RingForm::word(line(at)).store(RingForm::is_skip, std::memory_order_release);
    }
    written_ = end;
    if (end + wanted + 1 - read_ <= lines_) {
      clear(end + wanted);
    }
    return true;
  }

 private:
  std::byte* line(std::size_t i) const { return memory_ + (i + 1) * RingForm::line_bytes; }

  void clear(std::uint64_t position) {
    RingForm::word(line(position % lines_)).store(0, std::memory_order_relaxed);
    cleared_ = position;
  }

  std::byte* memory_ = nullptr;
  std::size_t lines_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t cleared_ = 0;  // the next message's end if that is as long as the last: fetched while nobody waits
  std::uint64_t read_ = 0;     // as far as is known here
};

/// The other end; for one thread at a time.
class RingReader {
 public:
  RingReader() = default;
  RingReader(std::byte* memory, std::size_t lines) : memory_(memory), lines_(lines) {}

  /// Takes one message, if there is one, through take(header, payload); says whether there was.
  template <class Take>
  bool try_read(const Take& take) {
    std::size_t at = read_ % lines_;
    std::uint64_t control = RingForm::word(line(at)).load(std::memory_order_acquire);
    if (control == 0) {
      __builtin_prefetch(line(at + 1));
      return false;
    }
    if (control == RingForm::is_skip) {
      read_ += lines_ - at;
      at = 0;
      control = RingForm::word(line(at)).load(std::memory_order_relaxed);
    }
    const std::size_t bytes = control >> RingForm::length_shift;
    Header header;
    std::memcpy(&header, line(at) + sizeof(std::uint64_t), sizeof header);
    try {
      take(header, std::span<const std::byte>(line(at + 1), bytes));
    } catch (...) {
      release(bytes);  // a message is taken once, whatever comes of it
      throw;
    }
    release(bytes);
    return true;
  }

 private:
  std::byte* line(std::size_t i) const { return memory_ + (i + 1) * RingForm::line_bytes; }

  /// Gives the lines of a message back to the writer.
  void release(std::size_t payload_bytes) {
    read_ += RingForm::lines_of(payload_bytes);
    RingForm::word(memory_).store(read_, std::memory_order_release);
  }

  std::byte* memory_ = nullptr;
  std::size_t lines_ = 0;
  std::uint64_t read_ = 0;
};

}  // namespace penstock::gas
