#include "random_type.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace penstock::datatype {
namespace {

Bytes run(std::int64_t bytes) {
  Bytes all;
  for (std::int64_t i = 0; i < bytes; ++i) {
    all.push_back(i);
  }
  return all;
}

}  // namespace

RandomType::RandomType(OwnedType made, Bytes its_bytes, std::string its_text)
    : type(std::move(made)), bytes(std::move(its_bytes)), text(std::move(its_text)) {
  MPI_Aint lower_bound = 0;
  MPI_Aint mpi_extent = 0;
  MPI_Type_get_extent(type, &lower_bound, &mpi_extent);
  extent = mpi_extent;
  if (!bytes.empty()) {
    const auto [least, most] = std::ranges::minmax_element(bytes);
    lowest = *least;
    end = *most + 1;
  }
}

void TypeMaker::append(Bytes& bytes, std::int64_t displacement, std::int64_t length, const RandomType& part) {
  if (static_cast<std::int64_t>(bytes.size() + part.bytes.size()) * std::max<std::int64_t>(length, 1) > max_bytes) {
    throw TooLarge();
  }
  made_trouble_ = made_trouble_ || (length > 0 && part.bytes.empty());
  for (std::int64_t i = 0; i < length; ++i) {
    for (const std::int64_t byte : part.bytes) {
      bytes.push_back(displacement + i * part.extent + byte);
    }
  }
}

RandomType TypeMaker::finish(OwnedType type, Bytes bytes, std::string text) {
  RandomType made(std::move(type), std::move(bytes), std::move(text));
  if (std::abs(made.extent) > max_reach || made.lowest < -max_reach || made.end > max_reach) {
    throw TooLarge();
  }
  return made;
}

RandomType TypeMaker::make(int depth) {
  if (depth == 0) {
    return one_in(20) ? make_f90() : make_named();
  }
  RandomType part = make(depth - 1);
  try {
    return make_around(part, depth);
  } catch (const TooLarge&) {
  } catch (const Refused&) {  // by Open MPI: some darrays of nothing
  }
  return part;
}

RandomType TypeMaker::make_around(const RandomType& part, int depth) {
  switch (small(0, 13)) {
    case 0:
      return make_dup(part);
    case 1:
      return make_resized(part);
    case 2:
      return make_contiguous(part);
    case 3:
    case 4:
      return make_vector(part);
    case 5:
      return make_hvector(part);
    case 6:
      return make_indexed(part, false);
    case 7:
      return make_indexed(part, true);
    case 8:
      return make_indexed_block(part, false);
    case 9:
      return make_indexed_block(part, true);
    case 10:
    case 11:
      return make_struct(part, depth);
    case 12:
      return make_subarray(part);
    default:
      return make_darray(part);
  }
}

// Without MPI_LONG_DOUBLE: MPICH copies its 10 bytes of value and not always the 6 of padding.
RandomType TypeMaker::make_named() {
  switch (small(0, 9)) {
    case 0:
      return finish(OwnedType(MPI_CHAR), run(1), "CHAR");
    case 1:
      return finish(OwnedType(MPI_SHORT), run(2), "SHORT");
    case 2:
      return finish(OwnedType(MPI_INT), run(4), "INT");
    case 3:
      return finish(OwnedType(MPI_FLOAT), run(4), "FLOAT");
    case 4:
      return finish(OwnedType(MPI_DOUBLE), run(8), "DOUBLE");
    case 5:
      return finish(OwnedType(MPI_INT64_T), run(8), "INT64_T");
    case 6:
      return finish(OwnedType(MPI_C_DOUBLE_COMPLEX), run(16), "C_DOUBLE_COMPLEX");
    case 7:
      return finish(OwnedType(MPI_2INT), run(8), "2INT");
    case 8:
      return finish(OwnedType(MPI_SHORT_INT), {0, 1, 4, 5, 6, 7}, "SHORT_INT");
    default:
      return finish(OwnedType(MPI_DOUBLE_INT), run(12), "DOUBLE_INT");
  }
}

RandomType TypeMaker::make_f90() {
  if (one_in(2)) {
    return finish(datatype::make(MPI_Type_create_f90_real, 15, MPI_UNDEFINED), run(8), "f90_real(15)");
  }
  return finish(datatype::make(MPI_Type_create_f90_integer, 9), run(4), "f90_integer(9)");
}

RandomType TypeMaker::make_dup(const RandomType& part) {
  return finish(datatype::make(MPI_Type_dup, part.type), part.bytes, fmt::format("dup({})", part.text));
}

RandomType TypeMaker::make_resized(const RandomType& part) {
  const std::int64_t lower_bound = number(-16, 16);
  const std::int64_t extent = one_in(3) ? number(0, 40) : part.end - part.lowest + gap(1);
  return finish(datatype::make(MPI_Type_create_resized, part.type, lower_bound, extent), part.bytes,
                fmt::format("resized({}, {}, {})", lower_bound, extent, part.text));
}

RandomType TypeMaker::make_contiguous(const RandomType& part) {
  const int copies = count();
  Bytes bytes;
  append(bytes, 0, copies, part);
  return finish(datatype::make(MPI_Type_contiguous, copies, part.type), std::move(bytes),
                fmt::format("contiguous({}, {})", copies, part.text));
}

RandomType TypeMaker::make_vector(const RandomType& part) {
  const int blocks = count();
  const int block = length();
  const int stride = one_in(3) ? small(-6, 6) : (block + gap(1)) * (one_in(4) ? -1 : 1);
  made_trouble_ = made_trouble_ || stride * part.extent == -1;
  Bytes bytes;
  for (int i = 0; i < blocks; ++i) {
    append(bytes, i * stride * part.extent, block, part);
  }
  return finish(datatype::make(MPI_Type_vector, blocks, block, stride, part.type), std::move(bytes),
                fmt::format("vector({}, {}, {}, {})", blocks, block, stride, part.text));
}

RandomType TypeMaker::make_hvector(const RandomType& part) {
  const int blocks = count();
  const int block = length();
  const std::int64_t apart = block * part.extent + gap(4);
  const MPI_Aint stride = one_in(3) ? number(-20, 20) : apart * (one_in(4) ? -1 : 1);
  made_trouble_ = made_trouble_ || stride == -1;
  Bytes bytes;
  for (int i = 0; i < blocks; ++i) {
    append(bytes, i * stride, block, part);
  }
  return finish(datatype::make(MPI_Type_create_hvector, blocks, block, stride, part.type), std::move(bytes),
                fmt::format("hvector({}, {}, {}, {})", blocks, block, stride, part.text));
}

RandomType TypeMaker::make_indexed(const RandomType& part, bool is_in_bytes) {
  const int blocks = count();
  std::vector<int> lengths(static_cast<std::size_t>(blocks));
  std::ranges::generate(lengths, [&] { return length(); });
  const std::vector<int> starts = places(lengths, part, is_in_bytes);
  Bytes bytes;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    append(bytes, starts[i] * (is_in_bytes ? 1 : part.extent), lengths[i], part);
  }
  const std::vector<MPI_Aint> displacements(starts.begin(), starts.end());
  return finish(is_in_bytes
                    ? datatype::make(MPI_Type_create_hindexed, blocks, lengths.data(), displacements.data(), part.type)
                    : datatype::make(MPI_Type_indexed, blocks, lengths.data(), starts.data(), part.type),
                std::move(bytes),
                fmt::format("{}indexed({{{}}}, {{{}}}, {})", is_in_bytes ? "h" : "", fmt::join(lengths, ", "),
                            fmt::join(starts, ", "), part.text));
}

RandomType TypeMaker::make_indexed_block(const RandomType& part, bool is_in_bytes) {
  const int blocks = count();
  const int block = length();
  const std::vector<int> starts = places(std::vector<int>(static_cast<std::size_t>(blocks), block), part, is_in_bytes);
  Bytes bytes;
  for (const int start : starts) {
    append(bytes, start * (is_in_bytes ? 1 : part.extent), block, part);
  }
  const std::vector<MPI_Aint> displacements(starts.begin(), starts.end());
  return finish(is_in_bytes
                    ? datatype::make(MPI_Type_create_hindexed_block, blocks, block, displacements.data(), part.type)
                    : datatype::make(MPI_Type_create_indexed_block, blocks, block, starts.data(), part.type),
                std::move(bytes),
                fmt::format("{}indexed_block({}, {{{}}}, {})", is_in_bytes ? "h" : "", block, fmt::join(starts, ", "),
                            part.text));
}

RandomType TypeMaker::make_struct(const RandomType& part, int depth) {
  const int members = small(0, one_in(10) ? 12 : 4);
  std::vector<RandomType> others;
  others.reserve(static_cast<std::size_t>(members));
  const bool is_wild = one_in(5);
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
  std::vector<std::string> texts;
  Bytes bytes;
  std::int64_t place = number(-20, 20);
  for (int i = 0; i < members; ++i) {
    const RandomType& member = one_in(3) ? part : others.emplace_back(make(small(0, depth - 1)));
    const int copies = length();
    lengths.push_back(copies);
    types.push_back(member.type);
    texts.push_back(member.text);
    displacements.push_back(is_wild ? number(-40, 40) : place - member.lowest);
    append(bytes, displacements.back(), copies, member);
    place += std::max(copies - 1, 0) * std::abs(member.extent) + member.end - member.lowest;
    place += one_in(2) ? 0 : gap(4);
  }
  return finish(datatype::make(MPI_Type_create_struct, members, lengths.data(), displacements.data(), types.data()),
                std::move(bytes),
                fmt::format("struct({{{}}}, {{{}}}, {{{}}})", fmt::join(lengths, ", "), fmt::join(displacements, ", "),
                            fmt::join(texts, ", ")));
}

int TypeMaker::count() {
  return one_in(15) ? small(0, 70) : small(0, 5);
}

int TypeMaker::length() {
  return one_in(15) ? small(0, 40) : small(0, 4);
}

int TypeMaker::gap(int unit) {
  return one_in(4) ? 0 : one_in(8) ? small(0, 300) : unit * small(0, 5);
}

// Most often blocks that do not overlap, from the lowest to the highest or shuffled; now and then any.
std::vector<int> TypeMaker::places(const std::vector<int>& lengths, const RandomType& part, bool is_in_bytes) {
  std::vector<int> starts;
  if (one_in(5)) {
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      starts.push_back(small(-10, 10));
    }
    return starts;
  }
  const int unit = is_in_bytes ? 4 : 1;
  const int element = is_in_bytes ? static_cast<int>(std::abs(part.extent)) : 1;
  const bool is_regular = one_in(3);
  const int regular_gap = gap(unit);
  int place = small(-5, 5);
  for (const int block : lengths) {
    starts.push_back(place);
    place += block * element + (is_regular ? regular_gap : gap(unit));
  }
  if (one_in(4)) {
    std::ranges::shuffle(starts, random_);  // overlaps where lengths differ
  }
  return starts;
}

}  // namespace penstock::datatype
