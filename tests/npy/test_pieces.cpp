// Arrays are written in pieces by many writers and read back in others, and appear only when complete.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/npy/npy.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::npy {
namespace {

using Shape = std::vector<std::int64_t>;

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

void write_counting(const std::string& path, const Shape& shape) {
  Writer writer = Writer::create(path, DataType::float32, shape);
  const std::vector<float> values = counting(static_cast<std::size_t>(writer.header().elements()));
  writer.write(0, std::as_bytes(std::span(values)));
  writer.commit();
}

TEST(Npy, WrittenByTwoWritersIsReadBackWhole) {
  const TemporaryFolder folder;
  const std::vector<float> values = counting(30);
  const auto bytes = std::as_bytes(std::span(values));
  Writer creator = Writer::create(folder / "a.npy", DataType::float32, Shape{5, 6});
  creator.write(0, bytes.first(40));
  Writer::open(folder / "a.npy").write(10, bytes.subspan(40));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.npy"));
  creator.commit();

  const Reader reader(folder / "a.npy");
  EXPECT_EQ(reader.header().shape, (Shape{5, 6}));
  EXPECT_EQ(reader.header().data_offset % 64, 0);
  std::vector<float> back(30);
  reader.read(0, std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, values);
}

TEST(Npy, EveryTypeAndNumberOfDimensionsRoundTrips) {
  const TemporaryFolder folder;
  for (const DataType type : {DataType::float32, DataType::float64, DataType::complex64, DataType::complex128}) {
    for (const Shape& shape : {Shape{}, Shape{7}, Shape{0, 3}, Shape{2, 3, 4}, Shape(32, 1)}) {
      Writer::create(folder / "a.npy", type, shape).commit();
      const Header header = read_header(folder / "a.npy");
      EXPECT_EQ(header.type, type);
      EXPECT_EQ(header.shape, shape);
    }
  }
}

TEST(Npy, PiecesOutsideTheArrayAreRefused) {
  const TemporaryFolder folder;
  write_counting(folder / "a.npy", {4, 5});
  const Reader reader(folder / "a.npy");
  std::array<std::byte, 8> two = {};
  EXPECT_TRUE(fails_with({"2 elements from number 19", "20"}, [&] { reader.read(19, two); }));
  EXPECT_TRUE(fails_with({"number -1"}, [&] { reader.read(-1, two); }));
  EXPECT_TRUE(fails_with({"7 bytes", "4-byte"}, [&] { reader.read(0, std::span(two).first(7)); }));
}

TEST(Npy, NeverCommittedLeavesNothing) {
  const TemporaryFolder folder;
  { const Writer writer = Writer::create(folder / "a.npy", DataType::float64, Shape{10}); }
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

TEST(Npy, IsCommittedByItsCreatorAlone) {
  const TemporaryFolder folder;
  const Writer creator = Writer::create(folder / "a.npy", DataType::float64, Shape{10});
  Writer other = Writer::open(folder / "a.npy");
  EXPECT_TRUE(fails_with({"created"}, [&] { other.commit(); }));
}

TEST(Npy, ThatCannotBeWrittenIsRefusedAtOnceAndLeavesNothing) {
  const TemporaryFolder folder;
  const auto create = [](const std::string& path, const Shape& shape) {
    return [=] { Writer::create(path, DataType::float64, shape); };
  };
  EXPECT_TRUE(fails_with({"none/a.npy", "folder does not exist"}, create(folder / "none/a.npy", {1})));
  EXPECT_TRUE(fails_with({"not a regular file"}, create(folder / "", {1})));
  EXPECT_TRUE(fails_with({"1.00 EiB"}, create(folder / "a.npy", {std::int64_t{1} << 57})));
  EXPECT_TRUE(fails_with({"63 bits"}, create(folder / "a.npy", {std::int64_t{1} << 60})));
  EXPECT_TRUE(fails_with({"negative"}, create(folder / "a.npy", {-4})));
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

TEST(Npy, IsWhatNumPyWritesAndReads) {
  if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) {
    GTEST_SKIP() << "/usr/bin/python3 has no numpy";
  }
  const TemporaryFolder folder;
  const std::string in = folder / "in.npy";
  ASSERT_EQ(std::system(("/usr/bin/python3 -c \"import numpy as n; n.save('" + in +
                         "', (n.arange(24) + 1j).astype('complex64').reshape(2, 3, 4))\"")
                            .c_str()),
            0);
  const Reader reader(in);
  EXPECT_EQ(reader.header().shape, (Shape{2, 3, 4}));
  std::vector<std::complex<float>> values(24);
  reader.read(0, std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values[23], std::complex<float>(23, 1));

  const std::string out = folder / "out.npy";
  Writer writer = Writer::create(out, DataType::complex64, reader.header().shape);
  writer.write(0, std::as_bytes(std::span(values)));
  writer.commit();
  EXPECT_EQ(std::system(("/usr/bin/python3 -c \"import numpy as n; a = n.load('" + in + "'); b = n.load('" + out +
                         "'); assert a.dtype == b.dtype and a.shape == b.shape and (a == b).all()\"")
                            .c_str()),
            0);
}

}  // namespace
}  // namespace penstock::npy
