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

namespace penstock::npy {

/// The kinds of element accepted, little-endian.
enum class DataType { float32, float64, complex64, complex128 };

/// The kind that T is: float, double, or complex of one of them.
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

/// What an array file holds: its elements' type, its extents (last index fastest), and where its data begins.
struct Header {
  DataType type = DataType::float64;
  std::vector<std::int64_t> shape;
  /// The byte of the file at which element 0 lies; known once read, of no meaning to a Writer.
  std::int64_t data_offset = 0;
  /// The first index is the fastest, not the last.
  bool is_fortran_order = false;

  /// The number of elements: the product of the extents, 1 for a shape of no dimensions.
  std::int64_t elements() const noexcept;
  std::int64_t data_bytes() const noexcept { return elements() * element_bytes(type); }
};

/// The orders of elements that a caller of `read_header` can do with.
enum class Orders { c, c_and_fortran };

/// Reads the header of the file `path`, format versions 1 to 3, and checks it against the file's length.
///
/// Throws Error for a missing or foreign file, a truncated header, an order that is not among `orders`, big-endian or
/// other elements, a shape that is negative or overflows, and for data cut short.
Header read_header(const std::string& path, Orders orders = Orders::c);

/// The bytes that an array file begins with, up to its element 0: for programs that write the elements by themselves.
/// `data_offset` is not read. Throws Error, in the name of the file `path`, for a shape that cannot be.
std::string header_text(const std::string& path, const Header& header);

/// Reads pieces of an array file in C order. Movable; its reads are thread-safe.
///
/// Every `bytes` below is as long as the elements asked for, and holds them in C order.
class Reader {
 public:
  /// Opens the file and reads its header; the errors of `read_header`.
  explicit Reader(const std::string& path);

  const Header& header() const noexcept { return header_; }
  /// Reads the elements from number `first` on that fill `bytes`. Throws Error when they are not all in the array.
  void read(std::int64_t first, std::span<std::byte> bytes) const;
  /// Reads the box of `extent` elements that begins at `start`, one number per dimension of the array.
  void read_box(std::span<const std::int64_t> start, std::span<const std::int64_t> extent,
                std::span<std::byte> bytes) const;

 private:
  File file_;
  Header header_;
};

/// Writes pieces of an array file that lies beside its final place, as `path` + ".part", until it is committed.
///
/// One rank creates it; any others open it once that is done (a barrier lies between); all write their parts; the
/// others' writers are destroyed, and once all of them are (a second barrier), the creator commits. A creator destroyed
/// without a commit removes the file. Movable; its writes are thread-safe.
class Writer {
 public:
  /// Makes the file with its header and its full size, so that a disk too small is an Error here and now. Throws Error
  /// also when `path` cannot be written, and for a shape that is negative or overflows.
  static Writer create(const std::string& path, DataType type, std::span<const std::int64_t> shape);
  /// Opens what `create` has made of the same path, to write parts of it.
  static Writer open(const std::string& path);

  const Header& header() const noexcept { return header_; }
  /// Writes elements from number `first` on. Throws Error when they are not all in the array.
  void write(std::int64_t first, std::span<const std::byte> bytes) const;
  /// Writes the box of `extent` elements that begins at `start`, one number per dimension of the array.
  void write_box(std::span<const std::int64_t> start, std::span<const std::int64_t> extent,
                 std::span<const std::byte> bytes) const;
  /// Brings everything to the disk and gives the file its final name; the creator alone, once.
  void commit();

 private:
  Writer() = default;
  const File& file() const noexcept { return draft_ ? draft_->file() : file_; }
  std::optional<Draft> draft_;  // the creator's
  File file_;                   // another rank's
  Header header_;
};

}  // namespace penstock::npy
