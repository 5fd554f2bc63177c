// Random MPI datatypes, each beside the list of its bytes, made one by one from the definitions of the MPI standard.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "owned_type.hpp"

namespace penstock::datatype {

using Bytes = std::vector<std::int64_t>;

/// A type with the offsets of its bytes in the order in which MPI packs them.
struct RandomType {
  RandomType(OwnedType made, Bytes its_bytes, std::string its_text);

  OwnedType type;
  Bytes bytes;
  std::int64_t extent = 0;  // as MPI says it
  std::int64_t lowest = 0;  // the lowest of the bytes, and one past the highest
  std::int64_t end = 0;
  std::string text;
};

/// Makes types by every constructor, nested in one another. The numbers are small on purpose, so that runs that touch
/// and loops that continue one another are frequent; the same seed makes the same types.
class TypeMaker {
 public:
  explicit TypeMaker(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  int small(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  bool one_in(int chances) { return small(1, chances) == 1; }

  /// A type of at most `max_bytes` bytes within `max_reach` bytes of its buffer, of up to `depth` constructors (and
  /// as many again in the members of each struct).
  RandomType make(int depth);

  /// Whether it has made what an MPI library is known to get wrong:
  /// copies of a type that names no byte, as members of a struct (Open MPI 4.1.4 and MPICH 4.0.2 crash or skip other
  /// members), or blocks one byte down from one another (which Open MPI 4.1.4 puts one after the other).
  bool made_trouble() const { return made_trouble_; }

  static constexpr std::int64_t max_bytes = std::int64_t{1} << 13;
  static constexpr std::int64_t max_reach = std::int64_t{1} << 18;

 private:
  struct TooLarge {};

  void append(Bytes& bytes, std::int64_t displacement, std::int64_t length, const RandomType& part);
  static RandomType finish(OwnedType type, Bytes bytes, std::string text);
  Bytes elements_at(const std::vector<Bytes>& indices, const std::vector<int>& sizes, bool is_fortran,
                    const RandomType& part);

  RandomType make_around(const RandomType& part, int depth);
  RandomType make_named();
  RandomType make_f90();
  RandomType make_dup(const RandomType& part);
  RandomType make_resized(const RandomType& part);
  RandomType make_contiguous(const RandomType& part);
  RandomType make_vector(const RandomType& part);
  RandomType make_hvector(const RandomType& part);
  RandomType make_indexed(const RandomType& part, bool is_in_bytes);
  RandomType make_indexed_block(const RandomType& part, bool is_in_bytes);
  RandomType make_struct(const RandomType& part, int depth);
  RandomType make_subarray(const RandomType& part);
  RandomType make_darray(const RandomType& part);

  int count();
  int length();
  int gap(int unit);
  std::vector<int> places(const std::vector<int>& lengths, const RandomType& part, bool is_in_bytes);

  std::mt19937_64 random_;
  bool made_trouble_ = false;
};

}  // namespace penstock::datatype
