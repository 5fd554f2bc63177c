// Layouts as bytes, to be sent to another process of the same machine type.
#include <cstring>
#include <utility>

#include "penstock/base/error.hpp"
#include "penstock/layout/layout.hpp"

namespace penstock::layout {
namespace {

/// The counts of loops, runs and parts of a node; then its loops, its runs, its parts.
struct Counts {
  std::uint64_t levels;
  std::uint64_t runs;
  std::uint64_t parts;
};

template <class T>
void append(std::vector<std::byte>& bytes, std::span<const T> items) {
  const auto raw = std::as_bytes(items);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

void append_layout(std::vector<std::byte>& bytes, const Layout& layout) {
  const Counts counts{layout.levels().size(), layout.runs().size(), layout.parts().size()};
  append(bytes, std::span(&counts, 1));
  append(bytes, layout.levels());
  append(bytes, layout.runs());
  for (const Layout& part : layout.parts()) {
    append_layout(bytes, part);
  }
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Layout read() {
    const Counts counts = take<Counts>(1).front();
    const std::vector<Level> levels = take<Level>(counts.levels);
    Layout layout;
    if (counts.parts == 0) {
      layout = Layout::list(take<Run>(counts.runs));
    } else {
      std::vector<Layout> parts;
      for (std::uint64_t i = 0; i < counts.parts; ++i) {
        parts.push_back(read());
      }
      layout = Layout::sequence(std::move(parts));
    }
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
      layout = Layout::strided(level->extent, level->stride, std::move(layout));
    }
    return layout;
  }

  bool is_at_end() const { return bytes_.empty(); }

 private:
  template <class T>
  std::vector<T> take(std::uint64_t count) {
    if (count > bytes_.size() / sizeof(T)) {
      throw Error("the bytes of a layout end before it does");
    }
    std::vector<T> items(count);
    if (count > 0) {
      std::memcpy(items.data(), bytes_.data(), count * sizeof(T));
    }
    bytes_ = bytes_.subspan(count * sizeof(T));
    return items;
  }

  std::span<const std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> to_bytes(const Layout& layout) {
  std::vector<std::byte> bytes;
  append_layout(bytes, layout);
  return bytes;
}

Layout layout_from(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Layout layout = reader.read();
  if (!reader.is_at_end()) {
    throw Error("the bytes of a layout go on after it");
  }
  return layout;
}

}  // namespace penstock::layout
