// Headers of every version are read, and each kind of file that cannot be used is refused by name and with a remedy.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/npy/npy.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::npy {
namespace {

using Shape = std::vector<std::int64_t>;

/// A file made by hand: the dictionary as given, followed by `data_bytes` zeros.
std::string npy_bytes(int version, std::string_view dictionary, std::size_t data_bytes) {
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(version), '\0'};
  std::size_t length = dictionary.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i, length /= 256) {
    bytes += static_cast<char>(length % 256);
  }
  return bytes.append(dictionary).append(data_bytes, '\0');
}

class NpyHeader : public testing::Test {
 protected:
  std::string file(const std::string& content) const {
    write_text(path_, content);
    return path_;
  }
  std::string file_of(std::string_view dictionary, std::size_t data_bytes = 0) const {
    return file(npy_bytes(1, dictionary, data_bytes));
  }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_ / "field.npy";
};

TEST_F(NpyHeader, IsReadInVersions1To3) {
  for (const int version : {1, 2, 3}) {
    const std::string dictionary = "{'descr': '<c16', 'fortran_order': False, 'shape': (3, 5), }   \n";
    const Header header = read_header(file(npy_bytes(version, dictionary, 240)));
    EXPECT_EQ(header.type, DataType::complex128);
    EXPECT_EQ(header.shape, (Shape{3, 5}));
    EXPECT_EQ(header.data_offset, static_cast<std::int64_t>(dictionary.size()) + (version == 1 ? 10 : 12));
    EXPECT_EQ(header.data_bytes(), 240);
  }
}

TEST_F(NpyHeader, IsReadWhateverItsKeysOrderQuotesAndBlanks) {
  const Header header = read_header(file_of("{\"shape\":( 2L ,3,),'descr' : '<f4','fortran_order':False}", 24));
  EXPECT_EQ(header.type, DataType::float32);
  EXPECT_EQ(header.shape, (Shape{2, 3}));
}

TEST_F(NpyHeader, OfNoDimensionsIsOneElementAndOfAnEmptyExtentNone) {
  EXPECT_EQ(read_header(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", 8)).elements(), 1);
  EXPECT_EQ(read_header(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 0)}")).elements(), 0);
}

TEST_F(NpyHeader, OfAMissingFileIsRefused) {
  EXPECT_TRUE(fails_with({"/none/field.npy", "no such file"}, [] { read_header("/none/field.npy"); }));
}

TEST_F(NpyHeader, WithoutTheMagicStringIsRefused) {
  for (const std::string content : {"", "\x93NUM", "P6 640 480 255", "\x93NUMPZ\x01 and more"}) {
    EXPECT_TRUE(fails_with({"field.npy", "not a .npy file", "numpy.save"}, [&] { read_header(file(content)); }));
  }
}

TEST_F(NpyHeader, OfAnUnknownVersionIsRefused) {
  EXPECT_TRUE(fails_with({"version 4"}, [&] { read_header(file(npy_bytes(4, "{}", 0))); }));
}

TEST_F(NpyHeader, CutShortAnywhereIsRefused) {
  const std::string whole = npy_bytes(2, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n", 32);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_TRUE(fails_with({"field.npy"}, [&] { read_header(file(whole.substr(0, length))); })) << length;
  }
  EXPECT_EQ(read_header(file(whole)).elements(), 4);
  EXPECT_TRUE(fails_with({"after 40 bytes"}, [&] { read_header(file(whole.substr(0, 40))); }));
}

TEST_F(NpyHeader, OfCutShortDataSaysWhatIsNeededAndWhatIsThere) {
  EXPECT_TRUE(fails_with({"(2, 3)", "float64", "needs 48 bytes", "only 47"}, [&] {
    read_header(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", 47));
  }));
}

TEST_F(NpyHeader, InFortranOrderIsRefused) {
  EXPECT_TRUE(fails_with({"Fortran order", "ascontiguousarray"},
                         [&] { read_header(file_of("{'descr': '<f8', 'fortran_order': True, 'shape': (1,)}", 8)); }));
}

TEST_F(NpyHeader, InFortranOrderIsReadWhereThatIsAskedForAndWritten) {
  const Header fortran{.type = DataType::float64, .shape = {2, 1}, .is_fortran_order = true};
  const std::string text = header_text("field.npy", fortran);
  const Header header = read_header(file(text + std::string(16, '\0')), Orders::c_and_fortran);
  EXPECT_TRUE(header.is_fortran_order);
  EXPECT_EQ(header.shape, (Shape{2, 1}));
  EXPECT_EQ(header.data_offset, std::ssize(text));
  EXPECT_TRUE(fails_with({"'x.npy'", "negative"}, [] { header_text("x.npy", {.shape = {-1}}); }));
}

TEST_F(NpyHeader, OfBigEndianElementsIsRefused) {
  EXPECT_TRUE(fails_with({"'>c8'", "big-endian", "astype('<c8')"},
                         [&] { read_header(file_of("{'descr': '>c8', 'fortran_order': False, 'shape': (1,)}", 8)); }));
}

TEST_F(NpyHeader, OfOtherElementsIsRefusedWithWhatIsAccepted) {
  for (const std::string descr : {"<i2", "|u1", "<f2", "<f16", "|b1", ">i4", "<U5", "nonsense", ""}) {
    EXPECT_TRUE(fails_with({"'" + descr + "'", "float32, float64, complex64 and complex128", "astype"}, [&] {
      read_header(file_of("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,)}", 16));
    }));
  }
  EXPECT_TRUE(fails_with({"structured"}, [&] {
    read_header(file_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 16));
  }));
}

TEST_F(NpyHeader, OfAShapeThatCannotBeIsRefused) {
  for (const auto& [shape, problem] : {std::pair{"(-1, 2)", "negative"},
                                       {"(99999999999999999999,)", "63 bits"},
                                       {"(4294967296, 4294967296)", "63 bits"},
                                       {"(0, 4294967296, 4294967296)", "63 bits"},
                                       {"(1152921504606846975,)", "63 bits"},
                                       {"(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", "33"},
                                       {"(1.5,)", "integers"},
                                       {"(2 3)", "integers"},
                                       {"5", "'('"}}) {
    EXPECT_TRUE(fails_with({"field.npy", problem}, [&] {
      read_header(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': " + std::string(shape) + "}", 8));
    })) << shape;
  }
}

TEST_F(NpyHeader, DamagedIsRefusedAndNotMisread) {
  for (const std::string dictionary :
       {"", "{", "{}", "[]", "{'descr': '<f8'}", "{'descr': '<f8",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", "{'descr' '<f8'}", "{'descr': '<f8' 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}"}) {
    EXPECT_TRUE(fails_with({"damaged", "numpy.save"}, [&] { read_header(file_of(dictionary, 8)); })) << dictionary;
  }
  EXPECT_TRUE(
      fails_with({"2097152 bytes long"}, [&] { read_header(file(npy_bytes(2, std::string(2 << 20, ' '), 0))); }));
}

}  // namespace
}  // namespace penstock::npy
