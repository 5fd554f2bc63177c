// Products of matrices in files are exactly right in all types, orders and operations, and a run that failed goes on.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gemm/gemm.hpp"
#include "penstock/journal/journal.hpp"
#include "tests/fails_with.hpp"
#include "tests/gemm/reference.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::gemm {
namespace {

using percolate::Engine;
using percolate::Transfer;

template <class T>
void write(const std::string& path, const Matrix<T>& matrix, bool is_fortran_order = false) {
  const npy::Header header{
      .type = npy::data_type<T>(), .shape = {matrix.rows, matrix.columns}, .is_fortran_order = is_fortran_order};
  const std::string text = npy::header_text(path, header);
  Matrix<T> turned(matrix.columns, matrix.rows);
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.columns; ++j) {
      turned(j, i) = matrix(i, j);
    }
  }
  const File file = File::create(path);
  file.write(0, std::as_bytes(std::span(text)));
  file.write(std::ssize(text), std::as_bytes(std::span(is_fortran_order ? turned.elements : matrix.elements)));
}

template <class T>
Matrix<T> read(const std::string& path) {
  const npy::Header header = npy::read_header(path, npy::Orders::c_and_fortran);
  EXPECT_EQ(header.type, npy::data_type<T>());
  const bool by_columns = header.is_fortran_order;
  Matrix<T> stored(header.shape[by_columns ? 1 : 0], header.shape[by_columns ? 0 : 1]);
  File::open(path).read(header.data_offset, std::as_writable_bytes(std::span(stored.elements)));
  if (!by_columns) {
    return stored;
  }
  Matrix<T> matrix(stored.columns, stored.rows);
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.columns; ++j) {
      matrix(i, j) = stored(j, i);
    }
  }
  return matrix;
}

/// Figures that need no measuring.
machine::Machine some_machine() {
  machine::Machine machine = machine::built_in();
  machine.node.memory_levels = {
      {.name = "storage", .capacity_bytes = 1 << 30, .bandwidth_bytes_per_s = 1e9, .latency_s = 1e-4}};
  return machine;
}

class Passing : public Engine {
 public:
  std::string_view name() const noexcept override { return "passing"; }
  void start(const Transfer& transfer, Done done) override { engine_->start(transfer, std::move(done)); }

 private:
  std::unique_ptr<Engine> engine_ = percolate::make_engine(percolate::EngineChoice::threads, 4);
};

/// Fails the transfer number `bad`, as a disk with a bad block would.
class FailingEngine final : public Passing {
 public:
  explicit FailingEngine(int bad) : left_(bad) {}
  void start(const Transfer& transfer, Done done) override {
    if (left_.fetch_sub(1) == 0) {
      done(std::make_exception_ptr(Error("cannot read 'a.npy': Input/output error")));
    } else {
      Passing::start(transfer, std::move(done));
    }
  }

 private:
  std::atomic<int> left_;
};

/// Counts for each byte of a file how often it is asked for ahead, and of those that are read the ones that were not.
class CountingEngine final : public Passing {
 public:
  explicit CountingEngine(const std::string& path) : path_(path), asked_(std::filesystem::file_size(path)) {}

  void start(const Transfer& transfer, Done done) override {
    if (transfer.file->path() == path_) {
      const std::lock_guard lock(mutex_);
      for (std::size_t run = 0; run < transfer.runs; ++run) {
        const std::int64_t first = transfer.offset + static_cast<std::int64_t>(run) * transfer.file_pitch;
        const auto bytes = std::span(asked_).subspan(static_cast<std::size_t>(first), transfer.run_bytes);
        if (transfer.kind == Transfer::Kind::read_ahead) {
          std::ranges::for_each(bytes, [](int& times) { ++times; });
        } else {
          read_ += std::ssize(bytes);
          unasked_ += std::ranges::count(bytes, 0);
        }
      }
    }
    Passing::start(transfer, std::move(done));
  }

  std::int64_t read_bytes() const { return read_; }
  std::int64_t unasked_bytes() const { return unasked_; }
  std::int64_t asked_bytes() const { return std::accumulate(asked_.begin(), asked_.end(), std::int64_t{0}); }

 private:
  std::string path_;
  std::mutex mutex_;
  std::vector<int> asked_;
  std::int64_t read_ = 0;
  std::int64_t unasked_ = 0;
};

class OutOfCore : public testing::Test {
 protected:
  FileProduct product() const { return {.a = folder_ / "a.npy", .b = folder_ / "b.npy", .c = folder_ / "c.npy"}; }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  template <class T>
  void check_all(unsigned seed);

  TemporaryFolder folder_{TemporaryFolder::in_memory()};
};

template <class T>
void OutOfCore::check_all(unsigned seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  struct Shape {
    std::int64_t m, n, k;
  };
  for (const Shape& shape : {Shape{1, 1, 1}, {150, 1, 70}, {1, 131, 257}, {140, 200, 310}, {5, 3, 0}, {0, 3, 4}}) {
    for (const Op op_a : {Op::none, Op::transpose, Op::conjugate_transpose}) {
      for (const Op op_b : {Op::none, Op::transpose, Op::conjugate_transpose}) {
        if (shape.m < 140 && (op_a != Op::none || op_b != Op::conjugate_transpose)) {
          continue;  // the small ones are about shapes
        }
        const auto make = [&](std::int64_t rows, std::int64_t columns, Op op) {
          return op == Op::none ? random_integers<T>(rows, columns, random) : random_integers<T>(columns, rows, random);
        };
        const Matrix<T> a = make(shape.m, shape.k, op_a);
        const Matrix<T> b = make(shape.k, shape.n, op_b);
        const Matrix<T> c = random_integers<T>(shape.m, shape.n, random);
        FileProduct files = product();
        files.op_a = op_a;
        files.op_b = op_b;
        files.scalars = {.alpha = static_cast<double>(random() % 3), .beta = static_cast<double>(random() % 3)};
        if (is_complex_number<T>) {
          files.scalars.alpha += std::complex<double>(0, 2);
        }
        write(files.a, a, random() % 2 == 0);
        write(files.b, b, random() % 2 == 0);
        const bool c_is_fortran = random() % 2 == 0;
        write(files.c, c, c_is_fortran);
        const FileOptions options{{.memory_bytes = 512 << 10, .threads = 2, .machine = some_machine()},
                                  random() % 3 != 0};
        FileMultiply(files, options).run();
        EXPECT_EQ(read<T>(files.c).elements, reference(files.scalars, a, op_a, b, op_b, c).elements)
            << shape.m << " x " << shape.n << " x " << shape.k;
        const bool keeps_order = files.scalars.beta != 0.0;
        EXPECT_EQ(npy::read_header(files.c, npy::Orders::c_and_fortran).is_fortran_order, keeps_order && c_is_fortran);
        EXPECT_FALSE(exists("c.npy.part") || exists("c.npy.journal"));
      }
    }
  }
}

TEST_F(OutOfCore, IsExactInFloat32) {
  check_all<float>(1);
}
TEST_F(OutOfCore, IsExactInFloat64) {
  check_all<double>(2);
}
TEST_F(OutOfCore, IsExactInComplex64) {
  check_all<std::complex<float>>(3);
}
TEST_F(OutOfCore, IsExactInComplex128) {
  check_all<std::complex<double>>(4);
}

/// 12 tiles or more.
class ManyTiles : public OutOfCore {
 protected:
  ManyTiles() {
    std::mt19937 random(5);
    a_ = random_integers<double>(500, 300, random);
    b_ = random_integers<double>(300, 400, random);
    write(product().a, a_);
    write(product().b, b_);
  }
  FileOptions options() const { return {{.memory_bytes = 900 << 10, .threads = 2, .machine = some_machine()}}; }
  Matrix<double> expected() const { return reference({}, a_, Op::none, b_, Op::none, Matrix<double>(500, 400)); }

  Matrix<double> a_{0, 0};
  Matrix<double> b_{0, 0};
};

TEST_F(ManyTiles, GoOnAfterAReadErrorWhereverItComes) {
  const auto whole = expected().elements;
  std::int64_t max_found = 0;
  for (int bad = 0; bad < 60; bad += 7) {
    FailingEngine failing(bad);
    FileOptions asked = options();
    asked.engine = &failing;
    {
      FileMultiply multiply(product(), asked);
      EXPECT_GE(multiply.plan().tiles, 4);
      EXPECT_TRUE(fails_with({"Input/output error", "goes on"}, [&] { multiply.run(); }));
    }
    EXPECT_FALSE(exists("c.npy"));
    {
      FileMultiply multiply(product(), options());
      max_found = std::max(max_found, multiply.plan().tiles_found);
      EXPECT_EQ(multiply.plan().tiles_torn, 0);
      multiply.run();
    }
    EXPECT_EQ(read<double>(product().c).elements, whole);
    std::filesystem::remove(product().c);
  }
  EXPECT_GE(max_found, 1);
}

TEST_F(ManyTiles, AskForEveryBlockBeforeTheyReadIt) {
  for (const std::string& path : {product().a, product().b}) {
    for (const bool by_columns : {false, true}) {
      for (const bool uses_scratch : {false, true}) {
        SCOPED_TRACE(testing::Message() << path << (by_columns ? " by columns" : "") << (uses_scratch ? ", kept" : ""));
        write(product().a, a_, by_columns);
        write(product().b, b_, by_columns);
        CountingEngine counting(path);
        FileOptions asked = options();
        asked.uses_scratch = uses_scratch;
        asked.engine = &counting;
        FileMultiply(product(), asked).run();
        EXPECT_EQ(counting.asked_bytes(), counting.read_bytes());
        // Several threads begin transfers, so that a read may just overtake what was to be asked for.
        EXPECT_LE(counting.unasked_bytes(), counting.read_bytes() / 10);
        if (uses_scratch) {
          EXPECT_EQ(counting.read_bytes(), std::ssize(path == product().a ? a_.elements : b_.elements) * 8);
        } else {
          EXPECT_GT(counting.read_bytes(), std::ssize(path == product().a ? a_.elements : b_.elements) * 8);
        }
        std::filesystem::remove(product().c);
      }
    }
  }
}

TEST_F(ManyTiles, MakeATornTileAgain) {
  FailingEngine failing(55);
  FileOptions asked = options();
  asked.engine = &failing;
  {
    FileMultiply multiply(product(), asked);
    EXPECT_THROW(multiply.run(), Error);
  }
  const File part = File::open_for_writing(folder_ / "c.npy.part");
  const std::byte other{99};
  part.write(128 + 3, {&other, 1});
  FileMultiply multiply(product(), options());
  EXPECT_EQ(multiply.plan().tiles_torn, 1);
  multiply.run();
  EXPECT_EQ(read<double>(product().c).elements, expected().elements);
}

TEST_F(ManyTiles, AreNotMixedWithThoseOfOtherInputs) {
  FailingEngine failing(40);
  FileOptions asked = options();
  asked.engine = &failing;
  {
    FileMultiply multiply(product(), asked);
    EXPECT_THROW(multiply.run(), Error);
  }
  FileProduct other = product();
  other.scalars.alpha = 3;
  EXPECT_TRUE(fails_with({"another product", "begin anew"}, [&] { FileMultiply multiply(other, options()); }));
  b_(299, 399) += 1;
  write(product().b, b_);
  EXPECT_TRUE(
      fails_with({"b.npy", "not as it was", "begin anew"}, [&] { FileMultiply multiply(product(), options()); }));
  std::filesystem::remove(folder_ / "c.npy.part");
  FileMultiply multiply(product(), options());
  EXPECT_EQ(multiply.plan().tiles_found, 0);
  multiply.run();
  EXPECT_EQ(read<double>(product().c).elements, expected().elements);
}

TEST_F(ManyTiles, AreNotMadeTwiceWhereARunEndedBeforeItsJournal) {
  FileMultiply(product(), options()).run();
  FileProduct with_beta = product();
  with_beta.scalars.beta = 1;
  FailingEngine failing(40);
  FileOptions asked = options();
  asked.engine = &failing;
  {
    FileMultiply multiply(with_beta, asked);
    EXPECT_THROW(multiply.run(), Error);
  }
  const std::string journal = read_text(folder_ / "c.npy.journal");
  FileMultiply(with_beta, options()).run();
  const auto whole = read<double>(product().c).elements;
  // As if it had been killed after renaming C: the journal is complete and still there.
  write_text(folder_ / "c.npy.journal", journal);
  journal::Journal(folder_ / "c.npy.journal").complete();
  FileMultiply again(with_beta, options());
  EXPECT_TRUE(again.plan().was_complete);
  again.run();
  EXPECT_EQ(read<double>(product().c).elements, whole);
  EXPECT_FALSE(exists("c.npy.journal"));
}

TEST_F(OutOfCore, RefusesWhatCannotBeMultiplied) {
  const FileOptions options{{.memory_bytes = std::int64_t{1} << 32, .threads = 1, .machine = some_machine()}};
  write(product().a, Matrix<double>(3, 4));
  write(product().b, Matrix<double>(5, 6));
  EXPECT_TRUE(fails_with({"3 x 4", "5 x 6"}, [&] { FileMultiply multiply(product(), options); }));
  write(product().b, Matrix<float>(4, 6));
  EXPECT_TRUE(fails_with({"float64", "float32"}, [&] { FileMultiply multiply(product(), options); }));
  write(product().b, Matrix<double>(4, 6));
  FileProduct same = product();
  same.c = same.a;
  EXPECT_TRUE(fails_with({"read and written"}, [&] { FileMultiply multiply(same, options); }));
  FileProduct imaginary = product();
  imaginary.scalars.alpha = {1, 1};
  EXPECT_TRUE(fails_with({"must be real"}, [&] { FileMultiply multiply(imaginary, options); }));
  FileProduct with_beta = product();
  with_beta.scalars.beta = 1;
  EXPECT_TRUE(fails_with({"c.npy"}, [&] { FileMultiply multiply(with_beta, options); }));
  write(product().c, Matrix<double>(3, 5));
  EXPECT_TRUE(fails_with({"3 x 5", "3 x 6"}, [&] { FileMultiply multiply(with_beta, options); }));
  FileOptions small = options;
  small.memory_bytes = 1000;
  EXPECT_TRUE(fails_with({"too small", "at least"}, [&] { FileMultiply multiply(product(), small); }));
  EXPECT_FALSE(exists("c.npy.part") || exists("c.npy.journal"));
}

}  // namespace
}  // namespace penstock::gemm
