#include "penstock/volume/bytes.hpp"

#include <algorithm>

#include "penstock/base/config.hpp"
#include "penstock/volume/description.hpp"

namespace penstock::volume {
namespace {

class PlainBytes final : public Bytes {
 public:
  explicit PlainBytes(File file) : file_(std::move(file)) {}
  void read(std::int64_t offset, std::span<std::byte> bytes) const override { file_.read(offset, bytes); }
  std::string begin(std::size_t count) const override {
    std::string text(std::min(count, static_cast<std::size_t>(file_.size())), '\0');
    file_.read(0, std::as_writable_bytes(std::span(text)));
    return text;
  }
  std::optional<std::int64_t> size() const override { return file_.size(); }
  bool is_compressed() const override { return false; }

 private:
  File file_;
};

}  // namespace

std::unique_ptr<Bytes> open_bytes(const std::string& path) {
  auto plain = std::make_unique<PlainBytes>(File::open(path));
  if (plain->begin(2) != "\x1f\x8b") {
    return plain;
  }
#if PENSTOCK_HAS_ZLIB
  return open_gzip(path);
#else
  refuse_reading(path, "it is compressed by gzip, and this build has no zlib: run gunzip");
#endif
}

}  // namespace penstock::volume
