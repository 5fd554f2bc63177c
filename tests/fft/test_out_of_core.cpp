// Transforms of fields in files are FFTW's, in however many slabs and columns, and a run that failed goes on.
#include <fftw3.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <complex>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/journal/journal.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::fft {
namespace {

using percolate::Engine;
using percolate::Transfer;
using Field = std::vector<std::complex<double>>;

Field make_field(const Extents& size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);  // as single precision holds them too
  Field field(static_cast<std::size_t>(size[0] * size[1] * size[2]));
  for (auto& value : field) {
    value = {uniform(random), uniform(random)};
  }
  return field;
}

template <class Real>
void write(const std::string& path, const Extents& size, const Field& field) {
  const std::vector<std::complex<Real>> elements(field.begin(), field.end());
  const std::string text =
      npy::header_text(path, {.type = npy::data_type<std::complex<Real>>(), .shape = {size[2], size[1], size[0]}});
  const File file = File::create(path);
  file.write(0, std::as_bytes(std::span(text)));
  file.write(std::ssize(text), std::as_bytes(std::span(elements)));
}

template <class Real>
Field read(const std::string& path, const Extents& size) {
  const npy::Reader reader(path);
  EXPECT_EQ(reader.header().type, npy::data_type<std::complex<Real>>());
  EXPECT_EQ(reader.header().shape, (std::vector<std::int64_t>{size[2], size[1], size[0]}));
  std::vector<std::complex<Real>> elements(static_cast<std::size_t>(reader.header().elements()));
  reader.read(0, std::as_writable_bytes(std::span(elements)));
  return {elements.begin(), elements.end()};
}

/// By FFTW's own transform of three dimensions, in double precision.
Field reference(const Extents& size, Field field, bool is_backward, double factor) {
  auto* data = reinterpret_cast<fftw_complex*>(field.data());
  const fftw_plan plan =
      fftw_plan_dft_3d(static_cast<int>(size[2]), static_cast<int>(size[1]), static_cast<int>(size[0]), data, data,
                       is_backward ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  for (auto& value : field) {
    value *= factor;
  }
  return field;
}

double relative_error(const Field& found, const Field& expected) {
  double difference = 0;
  double sum = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::norm(found[i] - expected[i]);
    sum += std::norm(expected[i]);
  }
  return std::sqrt(difference / sum);
}

/// Figures that need no measuring.
machine::Machine some_machine() {
  machine::Machine machine = machine::built_in();
  machine.node.memory_levels = {
      {.name = "storage", .capacity_bytes = 1 << 30, .bandwidth_bytes_per_s = 1e9, .latency_s = 1e-4}};
  return machine;
}

/// Fails the transfer number `bad`, as a disk with a bad block would.
class FailingEngine final : public Engine {
 public:
  explicit FailingEngine(int bad) : left_(bad) {}
  std::string_view name() const noexcept override { return "failing"; }
  void start(const Transfer& transfer, Done done) override {
    if (left_.fetch_sub(1) == 0) {
      done(std::make_exception_ptr(Error("cannot read 'f.npy': Input/output error")));
    } else {
      engine_->start(transfer, std::move(done));
    }
  }

 private:
  std::atomic<int> left_;
  std::unique_ptr<Engine> engine_ = percolate::make_engine(percolate::EngineChoice::threads, 4);
};

class OutOfCore : public testing::Test {
 protected:
  FileField field() const { return {.input = folder_ / "f.npy", .output = folder_ / "g.npy"}; }
  FileOptions options(std::int64_t memory_bytes, int threads = 2) const {
    return {.memory_bytes = memory_bytes, .threads = threads, .machine = some_machine()};
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "")) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  TemporaryFolder folder_{TemporaryFolder::in_memory()};
};

TEST_F(OutOfCore, TransformsAreThoseOfFftw) {
  struct Case {
    Extents size;
    std::int64_t memory_bytes;
    std::int64_t least_bricks;
  };
  // From one brick to many; lengths that are odd, prime, 1, and powers of two.
  for (const Case& of : {Case{{1, 1, 1}, 1 << 20, 1},
                         {{5, 1, 7}, 1 << 20, 1},
                         {{1, 9, 1}, 1 << 20, 1},
                         {{33, 29, 31}, 16 << 20, 1},
                         {{33, 29, 31}, 600 << 10, 20},
                         {{64, 32, 128}, 1200 << 10, 40},
                         {{13, 7, 510}, 900 << 10, 6},
                         {{101, 67, 5}, 1 << 20, 4}}) {
    const Field values = make_field(of.size, 1);
    const double points = static_cast<double>(values.size());
    for (const bool is_backward : {false, true}) {
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(testing::Message() << of.size[0] << " x " << of.size[1] << " x " << of.size[2] << ", "
                                        << of.memory_bytes << " bytes, " << threads << " threads");
        FileField files = field();
        files.is_backward = is_backward;
        files.scaling = is_backward ? Scaling::full : threads == 1 ? Scaling::none : Scaling::symmetric;
        const double factor = is_backward ? 1 / points : threads == 1 ? 1 : 1 / std::sqrt(points);
        const Field expected = reference(of.size, values, is_backward, factor);
        write<double>(files.input, of.size, values);
        {
          FileTransform transform(files, options(of.memory_bytes * (threads + 1) / 2, threads));
          EXPECT_GE(transform.plan().slabs * transform.plan().columns, of.least_bricks);
          EXPECT_LE(transform.plan().block_bytes, of.memory_bytes * (threads + 1) / 2);
          transform.run();
        }
        EXPECT_LT(relative_error(read<double>(files.output, of.size), expected), 1e-14);
        write<float>(files.input, of.size, values);
        FileTransform(files, options(of.memory_bytes * (threads + 1) / 2, threads)).run();
        EXPECT_LT(relative_error(read<float>(files.output, of.size), expected), 1e-6);
        EXPECT_EQ(this->files(), (std::set<std::string>{"f.npy", "g.npy"}));
      }
    }
  }
}

}  // namespace
}  // namespace penstock::fft
