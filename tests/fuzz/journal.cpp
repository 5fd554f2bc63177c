// Journals of transforms and products in files: whatever one says, the run that goes on by it ends with the right
// result or an Error.
//
// The first byte of an input says which work, whether its output is there, and what the rest is: a whole journal, or
// lines that follow those of a true one, with their checksums.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/checksum.hpp"
#include "penstock/fft/files/files.hpp"
#include "penstock/gemm/gemm.hpp"
#include "penstock/npy/npy.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t header_bytes = 128;  // of such small arrays
constexpr std::int64_t memory_bytes = std::int64_t{1} << 30;

void write_array(const std::string& path, npy::DataType type, std::vector<std::int64_t> shape) {
  npy::Writer writer = npy::Writer::create(path, type, shape);
  std::int64_t numbers = npy::element_bytes(type) / 8;
  for (const std::int64_t extent : shape) {
    numbers *= extent;
  }
  std::vector<double> data;
  for (std::int64_t i = 0; i < numbers; ++i) {
    data.push_back(static_cast<double>(i * i % 17));
  }
  writer.write(0, std::as_bytes(std::span(data)));
  writer.commit();
}

/// One work on files, and what lies beside its output.
class Work {
 public:
  Work(const std::string& folder, bool is_product) : folder_(folder), is_product_(is_product) {
    begin([](auto&) {});
    journal_ = read_text(path() + ".journal");
    begin([](auto& work) { work.run(); });
    result_ = read_text(path());
    fs::remove(path());
  }

  void go_on(const std::string& lines, bool is_whole, bool has_part) const {
    write_text(path() + ".journal", is_whole ? lines : journal_ + lines);
    if (has_part) {
      write_text(path() + ".part", result_.substr(0, header_bytes) + std::string(result_.size() - header_bytes, '\0'));
      write_text(path() + ".scratch", std::string(1 << 14, '\0'));
    }
    try {
      begin([](auto& work) { work.run(); });
      require(read_text(path()) == result_, "a run that goes on makes the same result");
    } catch (const Error&) {  // refused, with a message
    }
    for (const char* ending : {"", ".part", ".scratch", ".journal"}) {
      fs::remove(path() + ending);
    }
  }

 private:
  std::string path() const { return folder_ + (is_product_ ? "/c.npy" : "/g.npy"); }

  template <class Use>
  void begin(Use use) const {
    machine::Machine machine = machine::built_in();
    machine.node.memory_levels.push_back(
        {.name = "storage", .capacity_bytes = std::int64_t{1} << 40, .bandwidth_bytes_per_s = 1e9, .latency_s = 1e-4});
    const auto engine = percolate::make_engine(percolate::EngineChoice::threads);
    if (is_product_) {
      gemm::FileMultiply work({.a = folder_ + "/a.npy", .b = folder_ + "/b.npy", .c = path()},
                              {{.memory_bytes = memory_bytes, .engine = engine.get(), .machine = machine}});
      use(work);
    } else {
      fft::FileTransform work({.input = folder_ + "/f.npy", .output = path()},
                              {.memory_bytes = memory_bytes, .engine = engine.get(), .machine = machine});
      use(work);
    }
  }

  std::string folder_;
  bool is_product_;
  std::string journal_;  // of one that has begun
  std::string result_;
};

/// Each line with its checksum behind it, as journals have them.
std::string with_sums(std::string_view lines) {
  std::string all;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    all += fmt::format("{} {:016x}\n", line, checksum(std::as_bytes(std::span(line))));
  }
  return all;
}

struct Works {
  Works() {
    write_array(folder / "f.npy", npy::DataType::complex128, {3, 4, 5});
    write_array(folder / "a.npy", npy::DataType::float64, {6, 5});
    write_array(folder / "b.npy", npy::DataType::float64, {5, 4});
    transform.emplace(folder / ".", false);
    product.emplace(folder / ".", true);
  }
  TemporaryFolder folder{TemporaryFolder::in_memory()};
  std::optional<Work> transform;
  std::optional<Work> product;
};

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock;
  static const Works works;
  const unsigned choice = size > 0 ? data[0] : 0;
  const std::string_view text = text_of(data, size).substr(std::min<std::size_t>(size, 1));
  const bool is_whole = (choice & 4) != 0;
  const Work& work = (choice & 1) != 0 ? *works.product : *works.transform;
  work.go_on(is_whole ? std::string(text) : with_sums(text), is_whole, (choice & 2) == 0);
  return 0;
}
