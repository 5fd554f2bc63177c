// Transforms of fields in files are those of the definition, in however many slabs and columns, and a run that failed
// goes on.
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
#include "penstock/fft/files/files.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/journal/journal.hpp"
#include "tests/definition.hpp"
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

/// The real parts.
template <class Real>
void write_real(const std::string& path, const Extents& size, const Field& field) {
  std::vector<Real> elements;
  for (const auto& value : field) {
    elements.push_back(static_cast<Real>(value.real()));
  }
  const std::string text =
      npy::header_text(path, {.type = npy::data_type<Real>(), .shape = {size[2], size[1], size[0]}});
  const File file = File::create(path);
  file.write(0, std::as_bytes(std::span(text)));
  file.write(std::ssize(text), std::as_bytes(std::span(elements)));
}

template <class Real>
Field read_real(const std::string& path, const Extents& size) {
  const npy::Reader reader(path);
  EXPECT_EQ(reader.header().type, npy::data_type<Real>());
  EXPECT_EQ(reader.header().shape, (std::vector<std::int64_t>{size[2], size[1], size[0]}));
  std::vector<Real> elements(static_cast<std::size_t>(reader.header().elements()));
  reader.read(0, std::as_writable_bytes(std::span(elements)));
  return {elements.begin(), elements.end()};
}

/// The n/2 + 1 coefficients along x that a real field's spectrum has.
Extents half_of(const Extents& size) {
  return {size[0] / 2 + 1, size[1], size[2]};
}

Field half_spectrum(const Extents& size, const Field& spectrum) {
  Field half;
  for (std::size_t row = 0; row < spectrum.size(); row += static_cast<std::size_t>(size[0])) {
    const auto begin = spectrum.begin() + static_cast<std::ptrdiff_t>(row);
    half.insert(half.end(), begin, begin + half_of(size)[0]);
  }
  return half;
}

Field real_parts(Field field) {
  for (auto& value : field) {
    value = value.real();
  }
  return field;
}

Field reference(const Extents& size, const Field& field, bool is_backward, double factor) {
  const auto kind = is_backward ? transform::Kind::backward : transform::Kind::forward;
  Field spectrum = transform::by_definition(size, {kind, kind, kind}, field);
  for (auto& value : spectrum) {
    value *= factor;
  }
  return spectrum;
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

struct Case {
  Extents size;
  std::int64_t memory_bytes;
  std::int64_t min_bricks;
};

testing::Message trace_of(const Case& of, int threads) {
  return testing::Message() << of.size[0] << " x " << of.size[1] << " x " << of.size[2] << ", " << of.memory_bytes
                            << " bytes, " << threads << " threads";
}

TEST_F(OutOfCore, TransformsAreThoseOfTheDefinition) {
  // From one brick to many; lengths that are odd, prime, 1, and powers of two.
  for (const Case& of : {Case{{1, 1, 1}, 1 << 20, 1},
                         {{5, 1, 7}, 1 << 20, 1},
                         {{1, 9, 1}, 1 << 20, 1},
                         {{33, 29, 31}, 16 << 20, 1},
                         {{33, 29, 31}, 450 << 10, 20},
                         {{64, 32, 128}, 1200 << 10, 40},
                         {{13, 7, 510}, 900 << 10, 6},
                         {{101, 67, 5}, 1 << 20, 4}}) {
    const Field values = make_field(of.size, 1);
    const double points = static_cast<double>(values.size());
    for (const bool is_backward : {false, true}) {
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(trace_of(of, threads));
        FileField files = field();
        files.is_backward = is_backward;
        files.scaling = is_backward ? Scaling::full : threads == 1 ? Scaling::none : Scaling::symmetric;
        const double factor = is_backward ? 1 / points : threads == 1 ? 1 : 1 / std::sqrt(points);
        const Field expected = reference(of.size, values, is_backward, factor);
        write<double>(files.input, of.size, values);
        {
          FileTransform transform(files, options(of.memory_bytes * (threads + 1) / 2, threads));
          EXPECT_GE(transform.plan().slabs * transform.plan().columns, of.min_bricks);
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

TEST_F(OutOfCore, TransformsOfRealFieldsGoThereAndBack) {
  for (const Case& of : {Case{{1, 1, 1}, 1 << 20, 1},
                         {{2, 3, 4}, 1 << 20, 1},
                         {{1, 9, 5}, 1 << 20, 1},
                         {{33, 29, 31}, 16 << 20, 1},
                         {{33, 29, 31}, 300 << 10, 20},
                         {{64, 32, 128}, 800 << 10, 40},
                         {{101, 67, 5}, 1 << 20, 4}}) {
    const Field values = real_parts(make_field(of.size, 1));
    const Extents half = half_of(of.size);
    const Field spectrum = half_spectrum(of.size, reference(of.size, values, false, 1));
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(trace_of(of, threads));
      const FileOptions some = options(of.memory_bytes * (threads + 1) / 2, threads);
      const FileField there{.input = folder_ / "f.npy", .output = folder_ / "g.npy", .type = Type::r2c};
      const FileField back{.input = folder_ / "g.npy",
                           .output = folder_ / "h.npy",
                           .is_backward = true,
                           .type = Type::r2c,
                           .nx = of.size[0],
                           .scaling = Scaling::full};
      write_real<double>(there.input, of.size, values);
      for (const FileField& field : {there, back}) {
        FileTransform transform(field, some);
        EXPECT_GE(transform.plan().slabs * transform.plan().columns, of.min_bricks);
        EXPECT_LE(transform.plan().block_bytes, some.memory_bytes);
        transform.run();
      }
      EXPECT_LT(relative_error(read<double>(there.output, half), spectrum), 1e-14);
      EXPECT_LT(relative_error(read_real<double>(back.output, of.size), values), 1e-14);
      write_real<float>(there.input, of.size, values);
      FileTransform(there, some).run();
      FileTransform(back, some).run();
      EXPECT_LT(relative_error(read<float>(there.output, half), spectrum), 1e-6);
      EXPECT_LT(relative_error(read_real<float>(back.output, of.size), values), 1e-6);
      EXPECT_EQ(files(), (std::set<std::string>{"f.npy", "g.npy", "h.npy"}));
    }
  }
}

TEST_F(OutOfCore, SpectraOfRealFieldsAreOfAnEvenNumberOfPointsUnlessTold) {
  const Extents size{6, 5, 4};
  const Field values = real_parts(make_field(size, 1));
  write<double>(field().input, half_of(size), half_spectrum(size, reference(size, values, false, 1)));
  FileField back = field();
  back.is_backward = true;
  back.type = Type::r2c;
  back.scaling = Scaling::full;
  FileTransform(back, options(1 << 20)).run();
  EXPECT_LT(relative_error(read_real<double>(back.output, size), values), 1e-14);
  back.nx = 8;
  EXPECT_TRUE(
      fails_with({"4 coefficients", "8 real points has 5"}, [&] { FileTransform transform(back, options(1 << 20)); }));
}

TEST_F(OutOfCore, AreTheSameOnADisk) {
  const TemporaryFolder disk;  // where files past the page cache want whole pages
  const Extents size{33, 29, 31};
  const Field values = make_field(size, 4);
  const FileField files{.input = disk / "f.npy", .output = disk / "g.npy"};
  write<double>(files.input, size, values);
  for (const auto choice : {percolate::EngineChoice::automatic, percolate::EngineChoice::threads}) {
    const auto engine = percolate::make_engine(choice);
    FileOptions asked = options(450 << 10);
    asked.engine = engine.get();
    FileTransform(files, asked).run();
    EXPECT_LT(relative_error(read<double>(files.output, size), reference(size, values, false, 1)), 1e-14);
  }
}

/// 20 bricks or more.
class ManyBricks : public OutOfCore {
 protected:
  explicit ManyBricks(bool is_real_output = false) : is_real_output_(is_real_output), values_(make_field(size_, 2)) {
    write<double>(field().input, is_real_output ? half_of(size_) : size_,
                  is_real_output ? half_spectrum(size_, reference(size_, real_parts(values_), false, 1)) : values_);
  }
  FileField field() const {
    FileField field = OutOfCore::field();
    field.is_backward = is_real_output_;
    field.type = is_real_output_ ? Type::r2c : Type::c2c;
    field.nx = size_[0];
    return field;
  }
  FileOptions options() const { return OutOfCore::options(is_real_output_ ? 300 << 10 : 450 << 10, 2); }
  /// What an uninterrupted run makes; its files are removed.
  std::string whole() const {
    FileTransform(field(), options()).run();
    const std::string content = read_text(field().output);
    std::filesystem::remove(field().output);
    return content;
  }
  /// A run that fails in its transfer number `bad`.
  void fail_at(int bad) const {
    FailingEngine failing(bad);
    FileOptions asked = options();
    asked.engine = &failing;
    FileTransform transform(field(), asked);
    EXPECT_TRUE(fails_with({"Input/output error", "goes on"}, [&] { transform.run(); }));
  }
  /// One byte of a file is not what it was.
  void damage(const std::string& path, std::int64_t at) const {
    const File file = File::open_for_writing(path);
    std::byte byte{};
    file.read(at, {&byte, 1});
    byte ^= std::byte{0x10};
    file.write(at, {&byte, 1});
  }

  const Extents size_{33, 29, 31};
  const bool is_real_output_;
  const Field values_;
};

/// Of a complex field, slabs first; or of a spectrum, to a real field, columns first.
class EitherOrder : public ManyBricks, public testing::WithParamInterface<bool> {
 protected:
  EitherOrder() : ManyBricks(GetParam()) {}
  /// Transfers of the first pass, and of both.
  static int first_transfers(const FilePlan& plan) {
    return static_cast<int>(GetParam() ? plan.columns * (plan.slabs + 1) : 2 * plan.slabs);
  }
  static int transfers(const FilePlan& plan) {
    return static_cast<int>(2 * plan.slabs + plan.columns * (plan.slabs + 1));
  }
  static std::int64_t first_found(const FilePlan& plan) { return GetParam() ? plan.columns_found : plan.slabs_found; }
  static std::int64_t second_found(const FilePlan& plan) { return GetParam() ? plan.slabs_found : plan.columns_found; }
};
INSTANTIATE_TEST_SUITE_P(Of, EitherOrder, testing::Bool());

TEST_P(EitherOrder, GoesOnAfterAReadErrorWhereverItComes) {
  const std::string expected = whole();
  std::int64_t max_first = 0;
  std::int64_t max_second = 0;
  std::int64_t first_count = 0;
  int all = 0;
  {
    const FileTransform planned(field(), options());
    EXPECT_GE(planned.plan().slabs * planned.plan().columns, 20);
    first_count = GetParam() ? planned.plan().columns : planned.plan().slabs;
    all = transfers(planned.plan());
  }
  for (int bad = 0; bad < all; bad += 3) {
    fail_at(bad);
    EXPECT_EQ(files(), (std::set<std::string>{"f.npy", "g.npy.journal", "g.npy.part", "g.npy.scratch"}));
    FileTransform transform(field(), options());
    max_first = std::max(max_first, first_found(transform.plan()));
    max_second = std::max(max_second, second_found(transform.plan()));
    EXPECT_EQ(transform.plan().pieces_torn, 0);
    EXPECT_EQ(transform.run().bricks_torn, 0);
    EXPECT_EQ(read_text(field().output), expected);
    EXPECT_EQ(files(), (std::set<std::string>{"f.npy", "g.npy"}));
    std::filesystem::remove(field().output);
  }
  EXPECT_EQ(max_first, first_count);
  EXPECT_GE(max_second, 1);
}

TEST_P(EitherOrder, MakesTornBricksAgain) {
  const std::string expected = whole();
  int bad = 0;
  {
    const FileTransform planned(field(), options());
    bad = first_transfers(planned.plan()) + 1;
  }
  for (std::filesystem::remove(field().output + ".part"); bad > 0; bad -= 5) {
    fail_at(bad);
    damage(field().output + ".scratch", 100);
    FileTransform transform(field(), options());
    const bool has_first = first_found(transform.plan()) > 0;
    EXPECT_EQ(transform.run().bricks_torn, has_first ? 1 : 0);
    EXPECT_EQ(read_text(field().output), expected);
    std::filesystem::remove(field().output);
  }
  fail_at(5);
  std::filesystem::remove(field().output + ".scratch");
  FileTransform(field(), options()).run();
  EXPECT_EQ(read_text(field().output), expected);
}

TEST_P(EitherOrder, IsSharedByRanks) {
  const std::string expected = whole();
  for (const int ranks : {2, 3, 5}) {
    gas::run_world(ranks, [&](gas::Team& team) {
      FileTransform transform(team, field(), options());
      EXPECT_EQ(transform.plan().slabs_found, 0);
      EXPECT_EQ(transform.run().bricks_torn, 0);
    });
    EXPECT_EQ(read_text(field().output), expected);
    EXPECT_EQ(files(), (std::set<std::string>{"f.npy", "g.npy"}));
    std::filesystem::remove(field().output);
  }
}

TEST_P(EitherOrder, GoesOnByOtherRanksAfterOneHasFailed) {
  const std::string expected = whole();
  std::int64_t max_first = 0;
  std::int64_t max_second = 0;
  for (int bad = 2; bad < 32; bad += 4) {  // of about a third of all transfers
    for (const int ranks_then : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << "transfer " << bad << ", then " << ranks_then << " ranks");
      std::atomic<int> failures = 0;
      gas::run_world(3, [&](gas::Team& team) {
        FailingEngine failing(team.rank() == 1 ? bad : -1);
        FileOptions asked = options();
        asked.engine = &failing;
        const auto run = [&] { FileTransform(team, field(), asked).run(); };
        failures += fails_with({"Input/output error", "goes on"}, run) ? 1 : 0;
      });
      EXPECT_EQ(failures, 3);
      damage(field().output + ".scratch", 100);
      gas::run_world(ranks_then, [&](gas::Team& team) {
        FileTransform transform(team, field(), options());
        const bool has_damaged = first_found(transform.plan()) > 0;
        const FileResult result = transform.run();
        EXPECT_LE(result.bricks_torn, has_damaged ? 1 : 0);
        if (team.rank() == 0) {
          max_first = std::max(max_first, first_found(transform.plan()));
          max_second = std::max(max_second, second_found(transform.plan()));
        }
      });
      EXPECT_EQ(read_text(field().output), expected);
      EXPECT_EQ(files(), (std::set<std::string>{"f.npy", "g.npy"}));
      std::filesystem::remove(field().output);
    }
  }
  EXPECT_GE(max_first, 2);
  EXPECT_GE(max_second, 1);
}

TEST_P(EitherOrder, MakesTornOutputAgain) {
  const std::string expected = whole();
  int bad = 0;
  {
    const FileTransform planned(field(), options());
    bad = transfers(planned.plan()) - 1;
  }
  fail_at(bad);
  const std::string text = npy::header_text("", npy::read_header(field().input));
  damage(field().output + ".part", std::ssize(text) + 3);
  FileTransform transform(field(), options());
  EXPECT_EQ(transform.plan().pieces_torn, 1);
  transform.run();
  EXPECT_EQ(read_text(field().output), expected);
}

TEST_F(ManyBricks, AreNotMixedWithThoseOfAnotherTransform) {
  fail_at(20);
  FileField other = field();
  other.is_backward = true;
  EXPECT_TRUE(fails_with({"another transform", "forward", "g.npy.scratch", "begin anew"},
                         [&] { FileTransform transform(other, options()); }));
  EXPECT_TRUE(fails_with({"at least"}, [&] { FileTransform transform(field(), OutOfCore::options(60 << 10, 2)); }));
  Field changed = values_;
  changed.back() += 1;
  write<double>(field().input, size_, changed);
  EXPECT_TRUE(
      fails_with({"f.npy", "not as it was", "begin anew"}, [&] { FileTransform transform(field(), options()); }));
  std::filesystem::remove(field().output + ".part");
  FileTransform transform(field(), options());
  EXPECT_EQ(transform.plan().slabs_found, 0);
  transform.run();
  EXPECT_LT(relative_error(read<double>(field().output, size_), reference(size_, changed, false, 1)), 1e-14);
}

TEST_F(ManyBricks, AreNotMadeTwiceWhereARunEndedBeforeItsJournal) {
  fail_at(20);
  const std::string journal = read_text(field().output + ".journal");
  FileTransform(field(), options()).run();
  const std::string expected = read_text(field().output);
  // As if it had been killed after renaming the output.
  write_text(field().output + ".journal", journal);
  write_text(field().output + ".scratch", "");
  journal::Journal(field().output + ".journal").complete();
  FileTransform again(field(), options());
  EXPECT_TRUE(again.plan().was_complete);
  again.run();
  EXPECT_EQ(read_text(field().output), expected);
  EXPECT_EQ(files(), (std::set<std::string>{"f.npy", "g.npy"}));
}

TEST_F(ManyBricks, OfAnInputThatChangesMeanwhileAreNotTheResult) {
  FileTransform transform(field(), options());
  write<double>(field().input, size_, make_field(size_, 3));
  EXPECT_TRUE(fails_with({"f.npy", "has changed"}, [&] { transform.run(); }));
  EXPECT_FALSE(files().contains("g.npy"));
}

TEST_F(OutOfCore, RefusesWhatCannotBeTransformed) {
  const FileOptions some = options(1 << 20);
  const Field values = make_field({4, 3, 2}, 1);
  EXPECT_TRUE(fails_with({"f.npy", "no such file"}, [&] { FileTransform transform(field(), some); }));
  write_text(field().input, npy::header_text("", {.type = npy::DataType::float64, .shape = {1, 1, 1}}) + "12345678");
  EXPECT_TRUE(fails_with({"float64", "complex64 or complex128"}, [&] { FileTransform transform(field(), some); }));
  FileField of_real = field();
  of_real.type = Type::r2c;
  of_real.is_backward = true;
  EXPECT_TRUE(fails_with({"float64", "complex64 or complex128"}, [&] { FileTransform transform(of_real, some); }));
  write_text(field().input,
             npy::header_text("", {.type = npy::DataType::complex64, .shape = {1, 2}}) + "1234567812345678");
  EXPECT_TRUE(fails_with({"2 dimensions"}, [&] { FileTransform transform(field(), some); }));
  write<float>(field().input, {4, 3, 2}, values);
  std::filesystem::resize_file(field().input, std::filesystem::file_size(field().input) - 1);
  EXPECT_TRUE(fails_with({"f.npy"}, [&] { FileTransform transform(field(), some); }));
  write<float>(field().input, {4, 3, 2}, values);
  FileField same = field();
  same.output = same.input;
  EXPECT_TRUE(fails_with({"read and written"}, [&] { FileTransform transform(same, some); }));
  EXPECT_TRUE(fails_with({"too small", "at least"}, [&] { FileTransform transform(field(), options(1000)); }));
  FileField nowhere = field();
  nowhere.output = folder_ / "no/g.npy";
  EXPECT_TRUE(fails_with({"folder"}, [&] { FileTransform transform(nowhere, some); }));
  EXPECT_EQ(files(), (std::set<std::string>{"f.npy"}));
}

}  // namespace
}  // namespace penstock::fft
