// Files compressed by gzip, by zlib.
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <vector>

#include "penstock/base/error.hpp"
#include "penstock/volume/bytes.hpp"
#include "penstock/volume/description.hpp"

namespace penstock::volume {
namespace {

constexpr unsigned buffer_bytes = 1U << 20;

struct Close {
  void operator()(gzFile_s* file) const noexcept { gzclose(file); }
};
using Stream = std::unique_ptr<gzFile_s, Close>;

class GzipBytes final : public Bytes {
 public:
  explicit GzipBytes(const std::string& path) : path_(path), stream_(gzopen(path.c_str(), "rb")) {
    if (!stream_) {
      refuse_reading(path, "zlib does not open it");
    }
    gzbuffer(stream_.get(), buffer_bytes);
  }

  void read(std::int64_t offset, std::span<std::byte> bytes) const override {
    if (read_some(offset, bytes) != bytes.size()) {
      refuse_damaged();
    }
  }

  std::string begin(std::size_t count) const override {
    std::string text(count, '\0');
    text.resize(read_some(0, std::as_writable_bytes(std::span(text))));
    return text;
  }

  std::optional<std::int64_t> size() const override { return std::nullopt; }
  bool is_compressed() const override { return true; }

 private:
  /// How many bytes were there. zlib goes on from where it is, and begins anew for what lies before.
  std::size_t read_some(std::int64_t offset, std::span<std::byte> bytes) const {
    const std::scoped_lock lock(mutex_);
    gzclearerr(stream_.get());
    if (gzseek(stream_.get(), offset, SEEK_SET) != offset) {
      return 0;
    }
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto piece = static_cast<unsigned>(std::min<std::size_t>(bytes.size() - done, 1U << 30));
      const int count = gzread(stream_.get(), bytes.data() + done, piece);
      if (count <= 0) {
        break;
      }
      done += static_cast<std::size_t>(count);
    }
    // The checksum is looked at when what comes behind the last byte is asked for.
    if (const int next = gzgetc(stream_.get()); next >= 0) {
      gzungetc(next, stream_.get());
    }
    int code = Z_OK;
    gzerror(stream_.get(), &code);
    if (code != Z_OK && code != Z_STREAM_END) {
      refuse_damaged();
    }
    return done;
  }

  [[noreturn]] void refuse_damaged() const {
    refuse_reading(path_, "what it has compressed ends too early, or is damaged; copy or write it again");
  }

  std::string path_;
  mutable std::mutex mutex_;
  Stream stream_;
};

}  // namespace

std::unique_ptr<Bytes> open_gzip(const std::string& path) {
  return std::make_unique<GzipBytes>(path);
}

void compress(const File& from, const File& to) {
  errno = 0;
  const auto check = [&](bool is_good) {
    if (!is_good) {
      throw_system_error(fmt::format("cannot write '{}'", to.path()), errno);
    }
  };
  const int descriptor = dup(to.descriptor());
  check(descriptor >= 0);
  Stream stream(gzdopen(descriptor, "wb"));
  if (!stream) {
    close(descriptor);
  }
  check(stream != nullptr);
  gzbuffer(stream.get(), buffer_bytes);
  std::vector<std::byte> buffer(buffer_bytes);
  const std::int64_t size = from.size();
  for (std::int64_t at = 0; at < size; at += buffer_bytes) {
    const auto piece =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::int64_t>(buffer_bytes, size - at)));
    from.read(at, piece);
    check(gzwrite(stream.get(), piece.data(), static_cast<unsigned>(piece.size())) == static_cast<int>(piece.size()));
  }
  check(gzclose(stream.release()) == Z_OK);
}

}  // namespace penstock::volume
