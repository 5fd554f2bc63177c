// One transfer for each pair of ranks: what one has of a sub-matrix and belongs to the other's block is a box of its
// array, and strided blocks in the other's.
#include "penstock/gemm/block_cyclic.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <utility>
#include <vector>

namespace penstock::gemm {

using layout::Layout;

CyclicRange::CyclicRange(std::int64_t first, std::int64_t count, std::int64_t block, int owners, int first_owner,
                         int me)
    : before_first_(first_owner * block + first),
      count_(count),
      dimension_(before_first_ + count, block, owners),
      me_(me),
      missing_(me < first_owner ? block : 0) {}

Range CyclicRange::positions(const Range& range) const {
  const std::int64_t begin = dimension_.count_below(me_, index(range.lower));
  return {begin - missing_, dimension_.count_below(me_, index(range.end())) - begin};
}

Layout CyclicRange::in_range(const Range& range, std::int64_t stride, const Layout& inner) const {
  const std::int64_t block = dimension_.block();
  const Range here = positions(range);
  std::vector<Layout> parts;
  std::int64_t done = 0;
  const auto add = [&](std::int64_t blocks, std::int64_t of_each) {
    if (blocks > 0 && of_each > 0) {
      const std::int64_t at = dimension_.index(me_, here.lower + missing_ + done) - index(range.lower);
      const std::int64_t distance = blocks > 1 ? dimension_.cycle() * stride : 0;
      parts.push_back(
          Layout::strided(blocks, distance, Layout::strided(of_each, stride, inner)).displaced(at * stride));
      done += blocks * of_each;
    }
  };
  // The end of a block, whole blocks, the beginning of a block.
  add(1, std::min(here.extent, (block - (here.lower + missing_) % block) % block));
  add((here.extent - done) / block, block);
  add(1, here.extent - done);
  return Layout::sequence(std::move(parts));
}

namespace {

/// What this process and the block of a rank have in common.
struct Common {
  int rank;
  std::int64_t first;  // of this process's array, in elements
  Layout here;         // from there
  Layout there;        // from the beginning of the block
};

template <class T>
std::vector<Common> common_parts(const gas::Team& team, const CyclicMatrix& matrix, const GlobalMatrix<T>& blocks) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  std::vector<Common> parts;
  for (int turn = 0; turn < team.size(); ++turn) {
    const int rank = (team.rank() + turn) % team.size();  // not all begin with the same one
    for (const gas::Box<2>& box : blocks.boxes(rank)) {
      const Range columns{box.lower[0], box.extent[0]};
      const Range rows{box.lower[1], box.extent[1]};
      const Range my_columns = matrix.columns.positions(columns);
      const Range my_rows = matrix.rows.positions(rows);
      if (my_columns.extent > 0 && my_rows.extent > 0) {
        const std::array<layout::Level, 2> levels{
            {{my_columns.extent, matrix.leading * bytes}, {my_rows.extent, bytes}}};
        parts.push_back({rank, my_columns.lower * matrix.leading + my_rows.lower, Layout::nest(0, levels, bytes),
                         matrix.columns.in_range(columns, rows.extent * bytes,
                                                 matrix.rows.in_range(rows, bytes, Layout::contiguous(bytes)))});
      }
    }
  }
  return parts;
}

}  // namespace

template <class T>
void put_into(const gas::Team& team, const CyclicMatrix& matrix, const T* elements, GlobalMatrix<T>& blocks) {
  std::vector<gas::Event> sources;
  std::vector<gas::Event> remotes;
  for (const Common& part : common_parts(team, matrix, blocks)) {
    gas::Put put = blocks.segment().start_put({part.rank, 0}, part.there,
                                              reinterpret_cast<const std::byte*>(elements + part.first), part.here);
    sources.push_back(std::move(put.source));
    remotes.push_back(std::move(put.remote));
  }
  gas::Put{.source = gas::all_of(sources), .remote = gas::all_of(remotes)}.wait_or_abandon();
}

template <class T>
void get_from(const gas::Team& team, const CyclicMatrix& matrix, T* elements, GlobalMatrix<T>& blocks) {
  std::vector<gas::Event> events;
  for (const Common& part : common_parts(team, matrix, blocks)) {
    events.push_back(blocks.segment().start_get({part.rank, 0}, part.there,
                                                reinterpret_cast<std::byte*>(elements + part.first), part.here));
  }
  gas::all_of(events).wait_or_abandon();
}

template void put_into(const gas::Team&, const CyclicMatrix&, const float*, GlobalMatrix<float>&);
template void put_into(const gas::Team&, const CyclicMatrix&, const double*, GlobalMatrix<double>&);
template void put_into(const gas::Team&, const CyclicMatrix&, const std::complex<float>*,
                       GlobalMatrix<std::complex<float>>&);
template void put_into(const gas::Team&, const CyclicMatrix&, const std::complex<double>*,
                       GlobalMatrix<std::complex<double>>&);
template void get_from(const gas::Team&, const CyclicMatrix&, float*, GlobalMatrix<float>&);
template void get_from(const gas::Team&, const CyclicMatrix&, double*, GlobalMatrix<double>&);
template void get_from(const gas::Team&, const CyclicMatrix&, std::complex<float>*, GlobalMatrix<std::complex<float>>&);
template void get_from(const gas::Team&, const CyclicMatrix&, std::complex<double>*,
                       GlobalMatrix<std::complex<double>>&);

}  // namespace penstock::gemm
