// Copies a field from a file into another one, of whatever formats: copy_field FROM TO. Prints its size, its type, and
// what keeps the first file's elements from being read as they lie.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/volume/volume.hpp"

using penstock::shape::Box;
using penstock::volume::Reader;
using penstock::volume::Writer;

namespace {

/// The eight boxes that a field's halves make, from the last to the first, so that files are read back and forth.
std::array<Box, 8> octants(const penstock::shape::Extents& size) {
  std::array<Box, 8> boxes;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t d = 0; d < size.size(); ++d) {
      const std::int64_t half = size[d] / 2;
      const bool is_upper = (i >> d) % 2 == 0;
      boxes[i].lower[d] = is_upper ? half : 0;
      boxes[i].extent[d] = is_upper ? size[d] - half : half;
    }
  }
  return boxes;
}

void copy(const char* from, const char* to) {
  const Reader reader(from);
  const auto& size = reader.size();
  Writer creator = Writer::create(to, reader.type(), size, &reader);
  {
    const Writer other = Writer::open(to, reader.type(), size, creator.place());
    for (const Box& box : octants(size)) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(box.count() * penstock::npy::element_bytes(reader.type())));
      reader.read_box(box, bytes);
      (box.lower[2] == 0 ? creator : other).write_box(box, bytes);
    }
  }
  creator.commit();
  const std::string_view type = penstock::npy::name(reader.type());
  const std::string_view obstacle = reader.obstacle();
  std::printf("%lld %lld %lld %.*s %.*s\n", static_cast<long long>(size[0]), static_cast<long long>(size[1]),
              static_cast<long long>(size[2]), static_cast<int>(type.size()), type.data(),
              static_cast<int>(obstacle.size()), obstacle.data());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: copy_field FROM TO\n");
    return EXIT_FAILURE;
  }
  try {
    copy(argv[1], argv[2]);
  } catch (const penstock::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
