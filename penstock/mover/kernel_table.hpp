// The table of all kernels over a vector type. Included by each instruction set's file.
#pragma once

#include "penstock/mover/kernel_bodies.hpp"
#include "penstock/mover/transpose_bodies.hpp"

namespace penstock::mover {

template <class V>
constexpr Kernels make_kernels(const char* name) {
  return {
      .name = name,
      .copy_fixed_rows = {copy_fixed_rows<V, 4>, copy_fixed_rows<V, 8>, copy_fixed_rows<V, 16>, copy_fixed_rows<V, 32>,
                          copy_fixed_rows<V, 64>, copy_fixed_rows<V, 128>, copy_fixed_rows<V, 256>},
      .copy_rows = copy_rows<V>,
      .copy_long_rows = copy_long_rows<V>,
      .stream_rows = stream_rows<V>,
      .stream_gathered_rows = stream_gathered_rows<V>,
      .transpose = {transpose<V, 4>, transpose<V, 8>, transpose<V, 16>},
      .transpose_from_memory = {transpose_from_memory<V, 4>, transpose_from_memory<V, 8>, transpose_from_memory<V, 16>},
      .stream_transposed = {stream_transposed<V, 4>, stream_transposed<V, 8>, stream_transposed<V, 16>},
      .copy_list = copy_list<V>,
      .stream_list = stream_list<V>,
      .gather_equal_entries = {move_equal_entries<V, 4, true>, move_equal_entries<V, 8, true>,
                               move_equal_entries<V, 12, true>, move_equal_entries<V, 16, true>,
                               move_equal_entries<V, 24, true>, move_equal_entries<V, 32, true>,
                               move_equal_entries<V, 48, true>, move_equal_entries<V, 64, true>},
      .scatter_equal_entries = {move_equal_entries<V, 4, false>, move_equal_entries<V, 8, false>,
                                move_equal_entries<V, 12, false>, move_equal_entries<V, 16, false>,
                                move_equal_entries<V, 24, false>, move_equal_entries<V, 32, false>,
                                move_equal_entries<V, 48, false>, move_equal_entries<V, 64, false>},
      .gather_entries = move_entries<V, true>,
      .scatter_entries = move_entries<V, false>};
}

}  // namespace penstock::mover
