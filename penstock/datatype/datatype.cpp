#include "penstock/datatype/datatype.hpp"

#if PENSTOCK_HAS_MPI
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "penstock/base/error.hpp"
#include "penstock/base/numbers.hpp"
#include "penstock/datatype/contents.hpp"
#include "penstock/datatype/distance.hpp"
#include "penstock/datatype/distributed_array.hpp"

namespace penstock::datatype {
namespace {

using layout::Layout;
using layout::Run;

Description read(MPI_Datatype type, int depth);

std::int64_t extent_of(MPI_Datatype type) {
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  check_mpi(PMPI_Type_get_extent(type, &lower_bound, &extent), "MPI_Type_get_extent");
  return extent;
}

// MPI's types for MPI_MINLOC and MPI_MAXLOC are laid out as these structs, whose holes are not moved.
template <class Value>
struct ValueAndIndex {
  Value value;
  int index;
};

template <class Value>
Layout value_and_index() {
  using Pair = ValueAndIndex<Value>;
  return Layout::indexed({{Run{0, sizeof(Value)}, Run{offsetof(Pair, index), sizeof(int)}}});
}

Description read_predefined(MPI_Datatype type) {
  int bytes = 0;
  check_mpi(PMPI_Type_size(type, &bytes), "MPI_Type_size");
  const std::int64_t extent = extent_of(type);
  if (bytes == extent) {
    return {Layout::contiguous(bytes), extent};
  }
  if (type == MPI_SHORT_INT) {
    return {value_and_index<short>(), extent};
  }
  if (type == MPI_LONG_INT) {
    return {value_and_index<long>(), extent};
  }
  if (type == MPI_DOUBLE_INT) {
    return {value_and_index<double>(), extent};
  }
  if (type == MPI_LONG_DOUBLE_INT) {
    return {value_and_index<long double>(), extent};
  }
  return {Layout::contiguous(bytes), extent};
}

/// `length` elements one after the other.
Layout block_of(const Description& element, std::int64_t length) {
  return Layout::strided(length, element.extent, element.element);
}

Layout vector_of(const Contents& contents, std::int64_t stride, const Description& element) {
  return Layout::strided(contents.number(0), stride, block_of(element, contents.number(1)));
}

/// Layouts one after the other, gathered as one list of runs as long as no loop comes between.
class Sequence {
 public:
  explicit Sequence(std::size_t blocks) : blocks_(blocks) {}

  /// `length` elements at `displacement` bytes.
  void append(std::int64_t displacement, std::int64_t length, const Description& element) {
    const Layout& layout = element.element;
    if (length == 0 || layout.bytes() == 0) {
      return;
    }
    if (layout.is_contiguous() && (element.extent == layout.bytes() || length == 1)) {
      if (runs_.empty()) {
        runs_.reserve(blocks_);
      }
      runs_.push_back({sum(displacement, layout.lower_bound()), product(length, layout.bytes())});
      return;
    }
    if (layout.levels().empty() && layout.parts().empty() && length <= max_copies_unrolled) {
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t origin = sum(displacement, product(i, element.extent));
        for (const Run& run : layout.runs()) {
          runs_.push_back({sum(origin, run.offset), run.bytes});
        }
      }
      return;
    }
    end_runs();
    if (parts_.empty()) {
      parts_.reserve(blocks_);
    }
    parts_.push_back(block_of(element, length).displaced(displacement));
  }

  Layout finish() {
    if (parts_.empty()) {
      return Layout::list(std::move(runs_));
    }
    end_runs();
    return Layout::sequence(std::move(parts_));
  }

 private:
  // Longer blocks become loops, as a block's length has no bound. A layout unrolls what it likes to by itself.
  static constexpr std::int64_t max_copies_unrolled = 8;

  void end_runs() {
    if (!runs_.empty()) {
      parts_.push_back(Layout::list(std::exchange(runs_, {})));
    }
  }

  std::size_t blocks_;
  std::vector<Run> runs_;
  std::vector<Layout> parts_;
};

/// Whether elements one after the other are one run.
bool is_solid(const Description& element) {
  return element.element.is_contiguous() && element.extent == element.element.bytes();
}

/// Blocks of `length_of(i)` elements that are solid, each at `unit` bytes times a number of the contents, from the
/// number `first_displacement` on.
template <class LengthOf>
Layout blocks_of_solid(const Contents& contents, std::size_t first_displacement, std::int64_t unit,
                       const Description& element, const LengthOf& length_of) {
  std::vector<Run> runs(static_cast<std::size_t>(contents.number(0)));
  const std::int64_t origin = element.element.lower_bound();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i] = {sum(product(contents.number(first_displacement + i), unit), origin),
               product(length_of(i), element.extent)};
  }
  return Layout::list(std::move(runs));
}

/// Blocks whose lengths follow the count among the contents' numbers, and then their displacements, in units of `unit`
/// bytes.
Layout indexed_of(const Contents& contents, std::int64_t unit, const Description& element) {
  const auto count = static_cast<std::size_t>(contents.number(0));
  if (is_solid(element)) {
    return blocks_of_solid(contents, 1 + count, unit, element, [&](std::size_t i) { return contents.number(1 + i); });
  }
  Sequence sequence(count);
  for (std::size_t i = 0; i < count; ++i) {
    sequence.append(product(contents.number(1 + count + i), unit), contents.number(1 + i), element);
  }
  return sequence.finish();
}

/// Blocks of one length, which follows the count, and then their displacements, in units of `unit` bytes.
Layout indexed_block_of(const Contents& contents, std::int64_t unit, const Description& element) {
  const std::int64_t length = contents.number(1);
  if (is_solid(element)) {
    return blocks_of_solid(contents, 2, unit, element, [&](std::size_t) { return length; });
  }
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(contents.number(0)));
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = product(contents.number(2 + i), unit);
  }
  return Layout::indexed(offsets, block_of(element, length));
}

Layout struct_of(const Contents& contents, int depth) {
  constexpr std::size_t max_kept = 8;  // more kinds of members are rare, and then read anew
  const auto count = static_cast<std::size_t>(contents.number(0));
  std::vector<std::pair<MPI_Datatype, Description>> kept;
  kept.reserve(std::min(count, max_kept));
  const auto description_of = [&](MPI_Datatype type) -> const Description& {
    const auto found = std::ranges::find(kept, type, &std::pair<MPI_Datatype, Description>::first);
    if (found != kept.end()) {
      return found->second;
    }
    if (kept.size() == max_kept) {
      kept.pop_back();
    }
    return kept.emplace_back(type, read(type, depth)).second;
  };
  Sequence sequence(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (contents.number(1 + i) > 0) {
      sequence.append(contents.number(1 + count + i), contents.number(1 + i), description_of(contents.type(i)));
    }
  }
  return sequence.finish();
}

Layout subarray_of(const Contents& contents, const Description& element) {
  const auto dimensions = static_cast<std::size_t>(contents.integer(0));
  const bool is_fortran = contents.last_integer(0) == MPI_ORDER_FORTRAN;
  const auto argument = [&](std::size_t list, std::size_t dimension) -> std::int64_t {
    const std::size_t i = list * dimensions + dimension;
    return contents.large() != nullptr ? contents.large()[i] : contents.integer(1 + i);
  };
  Layout box = element.element;
  std::int64_t stride = element.extent;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t dimension = is_fortran ? i : dimensions - 1 - i;
    box = Layout::strided(argument(1, dimension), stride, std::move(box));
    offset = sum(offset, product(argument(2, dimension), stride));
    stride = product(stride, argument(0, dimension));
  }
  return box.displaced(offset);
}

Layout darray_of(const Contents& contents, const Description& element) {
  const auto dimensions = static_cast<std::size_t>(contents.integer(2));
  const bool is_fortran = contents.last_integer(0) == MPI_ORDER_FORTRAN;
  // From the end: order, then the lists psizes, dargs and distribs.
  const auto argument = [&](std::size_t list_from_end, std::size_t dimension) -> std::int64_t {
    return contents.last_integer(list_from_end * dimensions + (dimensions - dimension));
  };
  std::vector<Dealing> dealings(dimensions);
  // The grid of processes is in row-major order, whatever the order of the array.
  std::int64_t processes_left = contents.integer(0);
  std::int64_t rank_left = contents.integer(1);
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::int64_t size = contents.large() != nullptr ? contents.large()[i] : contents.integer(3 + i);
    const std::int64_t processes = argument(0, i);
    const std::int64_t block = argument(1, i);
    const std::int64_t distribution = argument(2, i);
    processes_left /= processes;
    const std::int64_t coordinate = rank_left / processes_left;
    rank_left %= processes_left;
    Dealing& dealing = dealings[is_fortran ? dimensions - 1 - i : i];
    if (distribution == MPI_DISTRIBUTE_NONE) {
      dealing = {size, size, 1, 0};
    } else if (block != MPI_DISTRIBUTE_DFLT_DARG) {
      dealing = {size, block, processes, coordinate};
    } else {
      const std::int64_t even_block = divide_up(size, processes);
      dealing = {size, distribution == MPI_DISTRIBUTE_BLOCK ? even_block : 1, processes, coordinate};
    }
  }
  return distributed_array(dealings, element.element, element.extent);
}

Layout read_derived(const Contents& contents, int depth) {
  if (contents.combiner() == MPI_COMBINER_STRUCT) {
    return struct_of(contents, depth);
  }
  Description element = read(contents.type(0), depth);
  switch (contents.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return std::move(element.element);
    case MPI_COMBINER_CONTIGUOUS:
      return block_of(element, contents.number(0));
    case MPI_COMBINER_VECTOR:
      return vector_of(contents, product(contents.number(2), element.extent), element);
    case MPI_COMBINER_HVECTOR:
      return vector_of(contents, contents.number(2), element);
    case MPI_COMBINER_INDEXED:
      return indexed_of(contents, element.extent, element);
    case MPI_COMBINER_HINDEXED:
      return indexed_of(contents, 1, element);
    case MPI_COMBINER_INDEXED_BLOCK:
      return indexed_block_of(contents, element.extent, element);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return indexed_block_of(contents, 1, element);
    case MPI_COMBINER_SUBARRAY:
      return subarray_of(contents, element);
    case MPI_COMBINER_DARRAY:
      return darray_of(contents, element);
    default:
      throw Error(fmt::format("an MPI datatype was made by a constructor that is not known here (combiner {})",
                              contents.combiner()));
  }
}

Description read(MPI_Datatype type, int depth) {
  if (depth > deepest_nesting) {
    throw Error(
        fmt::format("an MPI datatype is nested more than {} times: make it of fewer constructors", deepest_nesting));
  }
  const Contents contents(type);
  if (contents.is_predefined()) {
    return read_predefined(type);
  }
  return {read_derived(contents, depth + 1), extent_of(type)};
}

}  // namespace

Description describe(MPI_Datatype type) {
  return read(type, 0);
}

std::vector<MPI_Datatype> basics_of(MPI_Datatype type) {
  const Contents contents(type);
  if (contents.is_predefined()) {
    return {type};
  }
  std::vector<MPI_Datatype> basics;
  for (std::size_t i = 0; i < contents.types(); ++i) {
    for (const MPI_Datatype basic : basics_of(contents.type(i))) {
      if (std::ranges::find(basics, basic) == basics.end()) {
        basics.push_back(basic);
      }
    }
  }
  return basics;
}

Layout Description::of(std::int64_t count) const {
  return Layout::strided(count, extent, element);
}

}  // namespace penstock::datatype
#endif
