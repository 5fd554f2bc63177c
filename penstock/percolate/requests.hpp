// A transfer, cut into the requests that go to the system one by one. Private to the module.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "penstock/percolate/transfer.hpp"

namespace penstock::percolate {

/// Bytes that lie in a row both in the file and in memory.
struct Request {
  Transfer::Kind kind;
  const File* file;
  std::int64_t offset;
  std::byte* data;
  std::size_t bytes;

  /// Moves it, blocking. Throws Error.
  void move() const {
    switch (kind) {
      case Transfer::Kind::read:
        return file->read(offset, std::span(data, bytes));
      case Transfer::Kind::write:
        return file->write(offset, std::span(data, bytes));
      case Transfer::Kind::read_ahead:
        return file->read_ahead(offset, bytes);
      case Transfer::Kind::sync:
        return file->sync();
    }
  }
};

/// A transfer that was started: what of it has yet to be requested, and how many requests are out. Its users lock it.
struct Underway {
  // A disk reaches its rate with some requests of this size at once; larger ones would only come back later.
  static constexpr std::size_t max_bytes = std::size_t{1} << 20;

  Transfer transfer;
  Engine::Done done;
  std::size_t run = 0;     // of the next request
  std::size_t within = 0;  // bytes of that run which were requested
  int out = 0;
  std::exception_ptr failure = {};

  /// Nothing is left to request: all of it is, or it has failed.
  bool is_requested() const noexcept { return failure || run >= transfer.runs; }
  bool is_done() const noexcept { return is_requested() && out == 0; }

  Request next() noexcept {
    const std::size_t bytes = std::min(transfer.run_bytes - within, max_bytes);
    const auto row = static_cast<std::int64_t>(run);
    const auto column = static_cast<std::int64_t>(within);
    const Request request{
        .kind = transfer.kind,
        .file = transfer.file,
        .offset = transfer.offset + row * transfer.file_pitch + column,
        // Reading ahead has no memory.
        .data = transfer.data == nullptr ? nullptr : transfer.data + row * transfer.memory_pitch + column,
        .bytes = bytes};
    within += bytes;
    if (within >= transfer.run_bytes) {
      within = 0;
      ++run;
    }
    ++out;
    return request;
  }
};

}  // namespace penstock::percolate
