#include "penstock/cli/bench/bench_gemm_files.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/control_group.hpp"
#include "penstock/cli/bench/bench_ways.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/gemm/gemm.hpp"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

/// A folder of a name of its own, gone with all that is in it when this is.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& parent) : path_(fs::path(parent) / "penstock-bench-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) {
      throw_system_error(fmt::format("no folder can be made in '{}'", parent), errno);
    }
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string file(const char* name) const { return (fs::path(path_) / name).string(); }

 private:
  std::string path_;
};

/// Whole numbers from -4 to 4, so that all ways to add up their products give the same bits.
void write_matrix(const std::string& path, std::int64_t n, std::uint32_t seed) {
  npy::Writer writer = npy::Writer::create(path, npy::DataType::float64, std::vector<std::int64_t>{n, n});
  std::minstd_rand random(seed);
  std::vector<double> row(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (double& element : row) {
      element = static_cast<double>(random() / 1000 % 9) - 4;
    }
    writer.write(i * n, std::as_bytes(std::span(row)));
  }
  writer.commit();
}

/// Nothing of the file is in the system's cache afterwards.
void drop_from_cache(const std::string& path) {
  const File file = File::open(path);
  file.sync();
  file.drop_from_cache();
}

/// A whole file in the address space, shared with the system's cache.
class Mapping {
 public:
  Mapping(const File& file, int protection) : bytes_(static_cast<std::size_t>(file.size())) {
    data_ = mmap(nullptr, bytes_, protection, MAP_SHARED, file.descriptor(), 0);
    if (data_ == MAP_FAILED) {
      throw_system_error(fmt::format("cannot map '{}'", file.path()), errno);
    }
  }
  ~Mapping() { munmap(data_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  /// Returns when what was written there is on the disk.
  void sync() const {
    if (msync(data_, bytes_, MS_SYNC) != 0) {
      throw_system_error("cannot write a mapped file", errno);
    }
  }

 private:
  std::size_t bytes_;
  void* data_;
};

/// What a program without us would do: OpenBLAS is given the files' addresses, and the system's faults read them. No
/// advice is given: MADV_SEQUENTIAL and MADV_RANDOM are both wrong for blocks that are walked by pieces of rows.
void multiply_mapped(const gemm::FileProduct& product, std::int64_t n, int threads) {
  const auto offset = [](const std::string& path) { return npy::read_header(path).data_offset; };
  const Mapping a(File::open(product.a), PROT_READ);
  const Mapping b(File::open(product.b), PROT_READ);
  const npy::Header header{.type = npy::DataType::float64, .shape = {n, n}};
  const std::string text = npy::header_text(product.c, header);
  const File file = File::create(product.c);
  file.reserve(std::ssize(text) + header.data_bytes());
  file.write(0, std::as_bytes(std::span(text)));
  const Mapping c(file, PROT_READ | PROT_WRITE);
  gemm::multiply_by_blas_threads(npy::DataType::float64, n, n, n, {}, {a.data() + offset(product.a), n},
                                 {b.data() + offset(product.b), n}, c.data() + text.size(), n, threads);
  c.sync();
}

/// Throws Error where the two are not the same to the last bit.
void compare(const std::string& ours, const std::string& theirs, std::int64_t n) {
  const npy::Reader left(ours);
  const npy::Reader right(theirs);
  std::vector<double> row(static_cast<std::size_t>(n));
  std::vector<double> other(row.size());
  for (std::int64_t i = 0; i < n; ++i) {
    left.read(i * n, std::as_writable_bytes(std::span(row)));
    right.read(i * n, std::as_writable_bytes(std::span(other)));
    if (row != other) {
      throw Error(fmt::format("row {} of the product is not the same by both ways", i));
    }
  }
}

}  // namespace

void run_bench_gemm_files(Session& session, const BenchFiles& options) {
  const std::int64_t n = options.n;
  if (session.team.size() > 1) {
    throw Error(fmt::format("matrices in files are multiplied by one process with --threads, and these are {} ranks",
                            session.team.size()));
  }
  Results results(session, "bench-gemm-files");
  Progress progress(session);
  const ScratchFolder folder(options.folder);
  gemm::FileProduct ours{.a = folder.file("a.npy"), .b = folder.file("b.npy"), .c = folder.file("c.npy")};
  gemm::FileProduct theirs = ours;
  theirs.c = folder.file("c-mapped.npy");
  progress.show("writing matrices");
  write_matrix(ours.a, n, 1);
  write_matrix(ours.b, n, 2);
  progress.show("measuring the machine");
  const auto engine = percolate::make_engine();
  const gemm::FileOptions file_options{
      {.memory_bytes = static_cast<std::int64_t>(options.memory_bytes),
       .counts_process = true,
       .threads = session.threads,
       .engine = engine.get(),
       .machine = gemm::measure_machine(session.threads, options.folder, *engine,
                                        static_cast<std::int64_t>(options.memory_bytes))}};
  gemm::FileMultiply(ours, file_options);  // too little memory is told of here; within a limit it would be a kill
  const auto prepare = [&](const std::string& result) {
    for (const char* part : {"", ".part", ".journal"}) {
      fs::remove(result + part);
    }
    drop_from_cache(ours.a);
    drop_from_cache(ours.b);
  };
  const MemoryLimit limit(options.memory_bytes);
  std::vector<Contender> ways{
      {"Penstock, out of core", [&] { gemm::FileMultiply(ours, file_options).run(); }, [&] { prepare(ours.c); }},
      {fmt::format("OpenBLAS, mapped, {} threads", session.threads),
       [&] { multiply_mapped(theirs, n, session.threads); }, [&] { prepare(theirs.c); }}};
  session.has_begun_work = true;
  time_all(session.team, ways, 0, options.rounds, progress, session.recorder());
  progress.show("comparing");
  compare(ours.c, theirs.c, n);
  progress.show("");
  const double flops =
      gemm::flops(npy::DataType::float64, static_cast<double>(n), static_cast<double>(n), static_cast<double>(n));
  if (session.has_table()) {
    print_output("{} x {} doubles in files, none of them in the system's cache at the start; {}\n", n, n,
                 limit.is_imposed()
                     ? fmt::format("no more than {} of memory, that cache included", format_bytes(options.memory_bytes))
                     : fmt::format("no limit of memory could be imposed: {}", limit.why_not()));
    print_output("GFlop/s, best and median of {} in turn; the products are the same\n\n", options.rounds);
    print_ways(ways, flops);
  }
  results.write({{"n", n},
                 {"threads", session.threads},
                 {"memory_bytes", options.memory_bytes},
                 {"limit_is_imposed", limit.is_imposed()},
                 {"results", ways_to_json(ways, flops)}});
}

}  // namespace penstock::cli
