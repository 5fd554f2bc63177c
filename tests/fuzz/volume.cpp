// Headers of NIfTI and MRC files from any bytes: one that is accepted has a field whose first and last point are read.
#include "penstock/volume/volume.hpp"

#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/target.hpp"

namespace penstock {
namespace {

void check(const MemoryFile& file) {
  try {
    const volume::Reader reader(file.path());
    const auto& size = reader.size();
    require(size[0] > 0 && size[1] > 0 && size[2] > 0 && reader.data_offset() > 0, "the header describes a field");
    std::vector<std::byte> point(static_cast<std::size_t>(npy::element_bytes(reader.type())));
    reader.read_box({{0, 0, 0}, {1, 1, 1}}, point);
    reader.read_box({{size[0] - 1, size[1] - 1, size[2] - 1}, {1, 1, 1}}, point);
  } catch (const Error& error) {
    require(std::string_view(error.what()).size() < 2000, "a refusal is a sentence");
  }
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock;
  const std::string_view text = text_of(data, size);
  if (text.starts_with("\x89HDF") || text.starts_with("\x1f\x8b")) {
    return 0;  // other libraries' to read
  }
  const MemoryFile file(text);
  check(file);
  file.extend();
  check(file);
  return 0;
}
