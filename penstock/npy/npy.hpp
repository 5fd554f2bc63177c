// NumPy's .npy files, read and written in pieces by many threads or ranks.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "penstock/base/draft.hpp"

#pragma GCC visibility push(default)

namespace penstock::npy {

/// The types of element accepted, little-endian.
enum class DataType { float32, float64, complex64, complex128 };

/// The DataType of T, which is float, double, or complex of one of these.
template <class T>
constexpr DataType data_type() noexcept {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::complex<float>> ||
                std::is_same_v<T, std::complex<double>>);
  if constexpr (std::is_same_v<T, float>) {
    return DataType::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DataType::float64;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return DataType::complex64;
  } else {
    return DataType::complex128;
  }
}

/// NumPy's name of the type: "float32" and so on.
std::string_view name(DataType type) noexcept;
/// The size of an element: 4, 8, 8 or 16.
std::int64_t element_bytes(DataType type) noexcept;
/// Whether an element is a pair of real and imaginary part.
bool is_complex(DataType type) noexcept;
/// Whether its numbers are of single precision.
bool is_single(DataType type) noexcept;

/// The contents of an array file: the type of its elements, its extents, their order, and where its data begin.
struct Header {
  DataType type = DataType::float64;
  std::vector<std::int64_t> shape;
  /// The byte of the file at which element 0 lies: set by `read_header` and by Writer, ignored by `header_text`.
  std::int64_t data_offset = 0;
  /// Whether the first index is the fastest, not the last.
  bool is_fortran_order = false;

  /// The number of elements: the product of the extents, 1 for a shape of no dimensions.
  std::int64_t elements() const noexcept;
  std::int64_t data_bytes() const noexcept { return elements() * element_bytes(type); }
};

/// The orders of elements that a caller of `read_header` accepts.
enum class Orders { c, c_and_fortran };

/// Reads the header of the file `path`, format versions 1 to 3, and checks it against the file's length.
///
/// Throws Error where the file is missing or no .npy file, and where its header is truncated or damaged. Throws Error
/// also for elements in an order that is not among `orders`, for elements that are big-endian or no DataType, for a
/// negative extent, more than 32 dimensions or 2^63 bytes and more, and where the file ends before its data do.
Header read_header(const std::string& path, Orders orders = Orders::c);

/// The bytes of an array file before its element 0, for programs that write the elements themselves. Ignores
/// `header.data_offset`. Throws Error that names the file `path` for a shape that `read_header` would refuse.
std::string header_text(const std::string& path, const Header& header);

/// Reads pieces of an array file in C order. Movable; its reads are thread-safe.
///
/// The buffers `bytes` below have exactly the size of the elements to be read, and receive them in C order.
class Reader {
 public:
  /// Opens the file and reads its header; the errors of `read_header`.
  explicit Reader(const std::string& path);

  const Header& header() const noexcept { return header_; }
  /// Reads the elements from number `first` on that fill `bytes`. Throws Error when they are not all in the array.
  void read(std::int64_t first, std::span<std::byte> bytes) const;

 private:
  File file_;
  Header header_;
};

/// Writes pieces of an array file, which is named `path` + ".part" until it is committed.
///
/// One rank calls `create`; after a barrier the other ranks call `open`, and all ranks write their parts. The other
/// ranks then destroy their writers; after a second barrier the creator commits. A creator that is destroyed without a
/// commit removes the file. Movable; its writes are thread-safe.
class Writer {
 public:
  /// Makes the file with its header and its full size. Throws Error when the disk is too small for it, when `path`
  /// cannot be written, and for a shape that `read_header` would refuse.
  static Writer create(const std::string& path, DataType type, std::span<const std::int64_t> shape);
  /// Opens the file that `create` has made for the same path, to write parts of it.
  static Writer open(const std::string& path);

  const Header& header() const noexcept { return header_; }
  /// Writes elements from number `first` on. Throws Error when they are not all in the array.
  void write(std::int64_t first, std::span<const std::byte> bytes) const;
  /// Syncs the file to the disk and gives it its final name. To be called once, by the creator only (else Error).
  void commit();

 private:
  Writer() = default;
  const File& file() const noexcept { return draft_ ? draft_->file() : file_; }
  std::optional<Draft> draft_;  // the creator's
  File file_;                   // another rank's
  Header header_;
};

}  // namespace penstock::npy

#pragma GCC visibility pop
