// Fields in files by pieces: boxes, what is left of a file that is not committed, and what is refused. The formats
// themselves are compared with other libraries in test_formats.py.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/volume/volume.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::volume {
namespace {

namespace fs = std::filesystem;

constexpr Extents size{5, 4, 3};
constexpr Box all{{0, 0, 0}, size};

/// The names of new files of all formats that this build writes.
std::vector<std::string> names_of_all_formats() {
  std::vector<std::string> names{"f.npy", "f.nii", "f.mrc", "f"};
#if PENSTOCK_HAS_ZLIB
  names.push_back("f.nii.gz");
#endif
#if PENSTOCK_HAS_HDF5
  names.push_back("f.h5");
  names.push_back("f.data:/a/b");
#endif
  return names;
}

std::vector<float> numbers() {
  std::vector<float> all_numbers(static_cast<std::size_t>(all.count()));
  std::iota(all_numbers.begin(), all_numbers.end(), 1.0F);
  return all_numbers;
}

void write(const std::string& name) {
  const std::vector<float> elements = numbers();
  Writer writer = Writer::create(name, npy::DataType::float32, size);
  writer.write_box(all, std::as_bytes(std::span(elements)));
  writer.commit();
}

TEST(Volume, GivesAnyBoxOfAnyFormat) {
  for (const std::string& file : names_of_all_formats()) {
    SCOPED_TRACE(file);
    const TemporaryFolder folder;
    write(folder / file);
    const Reader reader(folder / file);
    EXPECT_EQ(reader.size(), size);
    EXPECT_EQ(reader.type(), npy::DataType::float32);
    for (const Box& box : {all, Box{{1, 2, 0}, {3, 2, 3}}, Box{{0, 1, 1}, {5, 2, 2}}, Box{{0, 0, 2}, {5, 4, 1}},
                           Box{{5, 0, 0}, {0, 4, 3}}, Box{{4, 3, 2}, {1, 1, 1}}}) {
      std::vector<float> found(static_cast<std::size_t>(box.count()));
      reader.read_box(box, std::as_writable_bytes(std::span(found)));
      std::size_t i = 0;
      for (std::int64_t z = box.lower[2]; z < box.lower[2] + box.extent[2]; ++z) {
        for (std::int64_t y = box.lower[1]; y < box.lower[1] + box.extent[1]; ++y) {
          for (std::int64_t x = box.lower[0]; x < box.lower[0] + box.extent[0]; ++x) {
            EXPECT_EQ(found[i++], static_cast<float>((z * size[1] + y) * size[0] + x + 1));
          }
        }
      }
    }
  }
}

TEST(Volume, RefusesBoxesThatAreNotInTheField) {
  const TemporaryFolder folder;
  write(folder / "f.nii");
  const Reader reader(folder / "f.nii");
  std::vector<std::byte> bytes(8);
  EXPECT_TRUE(fails_with({"f.nii", "does not lie within", "5x4x3"}, [&] {
    reader.read_box({{4, 0, 0}, {2, 1, 1}}, bytes);
  }));
  EXPECT_TRUE(fails_with({"does not lie within"}, [&] { reader.read_box({{-1, 0, 0}, {2, 1, 1}}, bytes); }));
  EXPECT_TRUE(fails_with({"is 12 bytes, and 8 were given"}, [&] { reader.read_box({{0, 0, 0}, {3, 1, 1}}, bytes); }));
  Writer writer = Writer::create(folder / "g.nii", npy::DataType::float32, size);
  EXPECT_TRUE(fails_with({"does not lie within"}, [&] { writer.write_box({{0, 0, 3}, {2, 1, 1}}, bytes); }));
}

TEST(Volume, LeavesNothingOfAFileThatIsNotCommitted) {
  for (const std::string& file : names_of_all_formats()) {
    SCOPED_TRACE(file);
    const TemporaryFolder folder;
    {
      const Writer writer = Writer::create(folder / file, npy::DataType::float32, size);
      for (const std::string& path : writer.unfinished_paths()) {
        EXPECT_TRUE(fs::exists(path));
      }
      EXPECT_FALSE(writer.unfinished_paths().empty());
      EXPECT_FALSE(fs::exists(file_path(folder / file)));
      Writer other = Writer::open(folder / file, npy::DataType::float32, size, writer.place());
      EXPECT_TRUE(fails_with({"by the writer that created it"}, [&] { other.commit(); }));
    }
    EXPECT_TRUE(fs::is_empty(folder / ""));
  }
}

#if PENSTOCK_HAS_HDF5
TEST(Volume, AddsADatasetWholeOrNotAtAll) {
  const TemporaryFolder folder;
  write(folder / "f.h5:/u");
  { const Writer writer = Writer::create(folder / "f.h5:/v", npy::DataType::float64, size); }
  EXPECT_TRUE(fails_with({"no dataset '/v.part'", "it has /u"}, [&] { const Reader reader(folder / "f.h5:/v.part"); }));
  write(folder / "f.h5:/v.part");  // as a process that was killed leaves it
  write(folder / "f.h5:/v");
  EXPECT_TRUE(fails_with({"no dataset '/v.part'"}, [&] { const Reader reader(folder / "f.h5:/v.part"); }));
  {
    const Writer writer = Writer::create(folder / "f.h5:/w", npy::DataType::float64, size);
    EXPECT_TRUE(fails_with({"another process writes"}, [&] { write(folder / "f.h5:/w"); }));
  }
  EXPECT_EQ(Reader(folder / "f.h5:/v").type(), npy::DataType::float32);
  std::vector<float> found(static_cast<std::size_t>(all.count()));
  Reader(folder / "f.h5:/u").read_box(all, std::as_writable_bytes(std::span(found)));
  EXPECT_EQ(found, numbers());
}

TEST(Volume, PutsADatasetAtTheEndOfAFileOfItsOwn) {
  for (const Extents& points : {Extents{1, 1, 1}, Extents{3, 5, 7}, Extents{1000, 1000, 3000}}) {
    const TemporaryFolder folder;
    const std::string text = header_text(folder / "f.h5:/a/rather/deep/folder/u", npy::DataType::complex128, points);
    EXPECT_LT(text.size(), std::size_t{1} << 16);
    std::ofstream(folder / "f.h5", std::ios::binary) << text;
    fs::resize_file(folder / "f.h5", text.size() + static_cast<std::uintmax_t>(16 * points[0] * points[1] * points[2]));
    const Reader reader(folder / "f.h5");
    EXPECT_EQ(reader.size(), points);
    EXPECT_EQ(reader.data_offset(), std::ssize(text));
    EXPECT_TRUE(reader.obstacle().empty());
  }
}

TEST(Volume, RefusesToReplaceAFileOfDatasetsByOneInPieces) {
  const TemporaryFolder folder;
  write(folder / "f.h5:/u");
  EXPECT_TRUE(fails_with({"f.h5' exists", "name another"},
                         [&] { header_text(folder / "f.h5:/v", npy::DataType::float32, size); }));
}
#endif

TEST(Volume, RefusesWhatAFormatHasNot) {
  const TemporaryFolder folder;
  for (const npy::DataType type : {npy::DataType::float64, npy::DataType::complex128}) {
    EXPECT_TRUE(fails_with({"f.mrc", "double precision"}, [&] { Writer::create(folder / "f.mrc", type, size); }));
  }
  EXPECT_TRUE(fails_with({"f.nii.gz", "leave .gz out"},
                         [&] { header_text(folder / "f.nii.gz", npy::DataType::float32, size); }));
  EXPECT_TRUE(fails_with({"f.nii", "has none"}, [&] {
    Writer::create(folder / "f.nii", npy::DataType::float32, {5, 0, 3});
  }));
  constexpr std::int64_t many = std::int64_t{1} << 30;
  EXPECT_TRUE(fails_with({"f.nii", "63 bits"}, [&] {
    Writer::create(folder / "f.nii", npy::DataType::float32, {many, many, 3});
  }));
  EXPECT_TRUE(fs::is_empty(folder / ""));
}

}  // namespace
}  // namespace penstock::volume
