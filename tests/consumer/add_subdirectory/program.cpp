// A user's program that moves a column, built with Penstock as a part of its own project.
#include <cstddef>
#include <cstdio>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/layout/layout.hpp"
#include "penstock/mover/mover.hpp"

int main() {
  using namespace penstock;
  const layout::Layout column = layout::Layout::strided(5, 16, layout::Layout::contiguous(8));
  const mover::Mover move = mover::Mover::compile(column, layout::Layout::contiguous(column.bytes()));
  std::vector<double> from{1, 0, 2, 0, 3, 0, 4, 0, 5};
  std::vector<double> to(5);
  move(reinterpret_cast<const std::byte*>(from.data()), reinterpret_cast<std::byte*>(to.data()));
  std::printf("Penstock %s, %lld bytes moved\n", PENSTOCK_VERSION, static_cast<long long>(move.bytes()));
  return to == std::vector<double>{1, 2, 3, 4, 5} ? 0 : 1;
}
