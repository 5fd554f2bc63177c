// The bytes of files as their formats count them: also of compressed files. Private to volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "penstock/base/file.hpp"

namespace penstock::volume {

/// Immutable; reads are thread-safe.
class Bytes {
 public:
  virtual ~Bytes() = default;
  /// Reads from byte `offset` on until `bytes` is full. Throws Error where the file ends before.
  virtual void read(std::int64_t offset, std::span<std::byte> bytes) const = 0;
  /// The first `count` bytes, or as many as there are.
  virtual std::string begin(std::size_t count) const = 0;
  /// The length, where it is known without reading the whole.
  virtual std::optional<std::int64_t> size() const = 0;
  virtual bool is_compressed() const = 0;
};

/// Opens a file: one compressed by gzip as what was compressed. Throws Error as File::open does, and for a compressed
/// file where this build has no zlib.
std::unique_ptr<Bytes> open_bytes(const std::string& path);

/// In gzip.cpp, which is there where zlib is.
std::unique_ptr<Bytes> open_gzip(const std::string& path);
/// Compresses `from` into `to`, which is empty. Throws Error where that fails.
void compress(const File& from, const File& to);

}  // namespace penstock::volume
