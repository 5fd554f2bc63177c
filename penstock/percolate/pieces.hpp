// A transfer in the pieces that go to the system as one request each.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "penstock/percolate/transfer.hpp"

namespace penstock::percolate {

/// Bytes that lie in a row in the file; in memory they are `runs` runs, `memory_pitch` apart.
struct Piece {
  Transfer::Kind kind;
  const File* file;
  std::int64_t offset;
  std::byte* data;
  std::size_t run_bytes;
  std::size_t runs = 1;
  std::int64_t memory_pitch = 0;

  std::size_t bytes() const noexcept { return kind == Transfer::Kind::sync ? 0 : run_bytes * runs; }

  /// The runs, as the system wants them; `parts` is emptied before.
  void list(std::vector<iovec>& parts) const {
    parts.clear();
    for (std::size_t run = 0; run < runs; ++run) {
      parts.push_back({.iov_base = data + static_cast<std::int64_t>(run) * memory_pitch, .iov_len = run_bytes});
    }
  }

  /// Moves it, blocking. Throws Error.
  void move() const {
    if (kind == Transfer::Kind::sync) {
      return file->sync();
    }
    std::vector<iovec> parts;
    list(parts);
    kind == Transfer::Kind::read ? file->read(offset, parts) : file->write(offset, parts);
  }
};

/// A transfer that was started: what of it has yet to be requested, and how many requests are out. Its users lock it.
struct Underway {
  // A disk reaches its rate with some requests of this size at once; larger ones would only come back later.
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;
  // Short runs that follow one another in the file go together; more than so many parts slow the system down.
  static constexpr std::size_t most_runs = 256;

  Transfer transfer;
  Engine::Done done;
  std::size_t run = 0;     // of the next piece
  std::size_t within = 0;  // bytes of that run which were requested
  int out = 0;
  std::exception_ptr failure = {};

  /// Nothing is left to request: all of it is, or it has failed.
  bool is_requested() const noexcept { return failure || run >= transfer.runs; }
  bool is_done() const noexcept { return is_requested() && out == 0; }

  Piece next() noexcept {
    const auto row = static_cast<std::int64_t>(run);
    const auto column = static_cast<std::int64_t>(within);
    Piece piece{.kind = transfer.kind,
                .file = transfer.file,
                .offset = transfer.offset + row * transfer.file_pitch + column,
                .data = transfer.data + row * transfer.memory_pitch + column,
                .run_bytes = std::min(transfer.run_bytes - within, most_bytes),
                .memory_pitch = transfer.memory_pitch};
    ++out;
    within += piece.run_bytes;
    if (within < transfer.run_bytes) {
      return piece;
    }
    within = 0;
    ++run;
    const bool is_whole = piece.run_bytes == transfer.run_bytes && piece.run_bytes > 0;
    if (is_whole && transfer.file_pitch == static_cast<std::int64_t>(transfer.run_bytes)) {
      piece.runs = std::min({most_bytes / transfer.run_bytes, most_runs, transfer.runs - run + 1});
      run += piece.runs - 1;
    }
    return piece;
  }
};

}  // namespace penstock::percolate
