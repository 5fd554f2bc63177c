// What a keeper brings to a scratch file are the very blocks that would be read from the matrix's own file.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "penstock/gemm/keeper.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::gemm {
namespace {

using percolate::Transfer;

/// Run by run, as any engine would.
void move(const Transfer& transfer) {
  for (std::size_t run = 0; run < transfer.runs; ++run) {
    const auto at = static_cast<std::int64_t>(run);
    const std::span<std::byte> memory(transfer.data + at * transfer.memory_pitch, transfer.run_bytes);
    const std::int64_t offset = transfer.offset + at * transfer.file_pitch;
    transfer.kind == Transfer::Kind::read ? transfer.file->read(offset, memory) : transfer.file->write(offset, memory);
  }
}

struct Shape {
  Factor factor;
  Op op;
  Cut outer;
  Cut layers;
  std::size_t slot_bytes;

  std::int64_t rows() const { return factor == Factor::a ? outer.extent : layers.extent; }
  std::int64_t columns() const { return factor == Factor::a ? layers.extent : outer.extent; }
  Box block(std::int64_t part, std::int64_t layer) const {
    const Cut& down = factor == Factor::a ? outer : layers;
    const Cut& right = factor == Factor::a ? layers : outer;
    const std::int64_t i = factor == Factor::a ? part : layer;
    const std::int64_t j = factor == Factor::a ? layer : part;
    return {.row = down.begin(i), .column = right.begin(j), .rows = down.length(i), .columns = right.length(j)};
  }
};

/// A matrix of numbered elements whose op has the shape.
FileMatrix numbered(const Shape& shape, const std::string& path) {
  npy::Header header{.type = npy::DataType::float64, .shape = {shape.rows(), shape.columns()}};
  if (shape.op != Op::none) {
    std::swap(header.shape[0], header.shape[1]);
  }
  const std::string text = npy::header_text(path, header);
  std::vector<double> elements(static_cast<std::size_t>(shape.rows() * shape.columns()));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<double>(i);
  }
  const File file = File::create(path);
  file.write(0, std::as_bytes(std::span(text)));
  file.write(std::ssize(text), std::as_bytes(std::span(elements)));
  return {path, shape.op};
}

void expect_blocks(const Shape& shape) {
  const TemporaryFolder folder;
  const FileMatrix matrix = numbered(shape, folder / "matrix.npy");
  const File scratch = File::create(folder / "scratch");
  const std::int64_t block_bytes = shape.outer.step * shape.layers.step * 8 + 24;
  scratch.reserve(shape.outer.parts() * shape.layers.parts() * block_bytes);
  Keeper keeper(matrix, &scratch, shape.factor, shape.outer, shape.layers, block_bytes);
  const Cut& across = keeper.has_lines_along_layers() ? shape.outer : shape.layers;
  keeper.want(0, across.parts() / 2);
  keeper.want(across.parts() / 2, across.parts());
  std::vector<std::byte> slot(shape.slot_bytes);
  for (std::int64_t left = keeper.parcels_left(slot.size()); left > 0; --left) {
    ASSERT_EQ(keeper.parcels_left(slot.size()), left);
    const percolate::Parcel parcel = keeper.next({}, slot, {});
    ASSERT_LE(parcel.inward.front().transfer.bytes(), slot.size());
    move(parcel.inward.front().transfer);
    for (const Transfer& transfer : parcel.outward) {
      move(transfer);
    }
  }
  EXPECT_EQ(keeper.parcels_left(slot.size()), 0);
  for (std::int64_t part = 0; part < shape.outer.parts(); ++part) {
    for (std::int64_t layer = 0; layer < shape.layers.parts(); ++layer) {
      const Box box = shape.block(part, layer);
      std::vector<std::byte> expected(static_cast<std::size_t>(box.rows * box.columns * 8));
      std::vector<std::byte> kept(expected.size());
      move(matrix.transfer(box, expected.data(), Transfer::Kind::read));
      scratch.read((part * shape.layers.parts() + layer) * block_bytes, kept);
      EXPECT_EQ(kept, expected) << "block " << part << ", " << layer;
    }
  }
}

TEST(Keeper, BringsTheBlocksOfAnyMatrixByWayOfAnySlot) {
  std::mt19937 random(11);
  const auto upto = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
  for (int round = 0; round < 200; ++round) {
    const Shape shape{.factor = upto(2) == 1 ? Factor::a : Factor::b,
                      .op = upto(2) == 1 ? Op::none : Op::transpose,
                      .outer = {.extent = upto(40), .step = upto(17)},
                      .layers = {.extent = upto(40), .step = upto(17)},
                      .slot_bytes = static_cast<std::size_t>(8 * upto(300))};
    SCOPED_TRACE(testing::Message() << "round " << round);
    expect_blocks(shape);
    if (HasFailure()) {
      return;
    }
  }
}

TEST(Keeper, MovesLongRunsBothWays) {
  const Shape shape{.factor = Factor::a,
                    .op = Op::none,
                    .outer = {.extent = 64, .step = 64},
                    .layers = {.extent = 16384, .step = 64},
                    .slot_bytes = std::size_t{1} << 20};
  const TemporaryFolder folder;
  const FileMatrix matrix = numbered(shape, folder / "matrix.npy");
  Keeper keeper(matrix, nullptr, shape.factor, shape.outer, shape.layers, 64 * 64 * 8);
  keeper.want(0, 1);
  std::vector<std::byte> slot(shape.slot_bytes);
  const percolate::Parcel parcel = keeper.next({}, slot, {});
  // A row of a block alone has 512 bytes.
  EXPECT_GE(parcel.inward.front().transfer.run_bytes, std::size_t{16} << 10);
  for (const Transfer& transfer : parcel.outward) {
    EXPECT_EQ(transfer.file_pitch, static_cast<std::int64_t>(transfer.run_bytes));
    EXPECT_GE(transfer.bytes(), std::size_t{16} << 10);
  }
}

}  // namespace
}  // namespace penstock::gemm
