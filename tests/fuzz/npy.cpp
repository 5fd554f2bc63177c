// Headers of .npy files from any bytes: a header that is accepted is written and read again as the same.
#include "penstock/npy/npy.hpp"

#include <string>

#include "penstock/base/base.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/target.hpp"

namespace penstock {
namespace {

void check(const MemoryFile& file, npy::Orders orders) {
  const std::string path = file.path();
  try {
    npy::Header header = npy::read_header(path, orders);
    require(header.elements() >= 0 && header.data_offset > 0, "the header counts its elements");
    const std::string text = npy::header_text(path, header);
    header.data_offset = std::ssize(text);
    const MemoryFile again(text);
    again.extend();
    const npy::Header read = npy::read_header(again.path(), npy::Orders::c_and_fortran);
    require(read.type == header.type && read.shape == header.shape && read.data_offset == header.data_offset &&
                read.is_fortran_order == header.is_fortran_order,
            "a header written is read as the same");
  } catch (const Error& error) {
    require(std::string_view(error.what()).size() < 2000, "a refusal is a sentence");
  }
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock;
  const MemoryFile file(text_of(data, size));
  check(file, npy::Orders::c);
  file.extend();
  check(file, npy::Orders::c_and_fortran);
  return 0;
}
