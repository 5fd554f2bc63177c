// Random MPI datatypes packed and unpacked by movers, whole and in parts, beside MPI_Pack and MPI_Unpack and beside a
// copy byte by byte.
//
// differential [--seconds=S] [--types=N] [--seed=K]: runs until S seconds have passed (10) or N types have been tried.
// Type i is made from the seed K + i, so that `--seed=K+i --types=1` repeats one that failed.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/clock.hpp"
#include "penstock/datatype/datatype.hpp"
#include "penstock/mover/mover.hpp"
#include "random_type.hpp"
#include "tests/guarded_memory.hpp"

namespace penstock::datatype {
namespace {

using layout::Layout;
using mover::Code;
using mover::Hint;
using mover::Mover;

// What is going on, for the handler of faults.
volatile std::uint64_t present_seed = 0;
const char* volatile present_work = "";
volatile std::sig_atomic_t is_in_mpi = 0;
sigjmp_buf before_mpi;

void report_fault(int signal) {
  if (is_in_mpi != 0) {
    siglongjmp(before_mpi, 1);
  }
  std::array<char, 200> text{};
  const int length = std::snprintf(text.data(), text.size(), "signal %d in %s: repeat with --seed=%llu --types=1\n",
                                   signal, present_work, static_cast<unsigned long long>(present_seed));
  if (write(STDERR_FILENO, text.data(), static_cast<std::size_t>(length)) < 0) {
    _exit(2);
  }
  _exit(1);
}

/// Whether the MPI library returns from `call` with success, rather than crash in it.
template <class Call>
bool survives(const char* work, Call call) {
  present_work = work;
  if (sigsetjmp(before_mpi, 1) != 0) {
    is_in_mpi = 0;
    return false;
  }
  is_in_mpi = 1;
  const int code = call();
  is_in_mpi = 0;
  return code == MPI_SUCCESS;
}

struct Tally {
  std::uint64_t types = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unpacked = 0;
  std::uint64_t with_code = 0;
  std::uint64_t failures = 0;
  std::uint64_t known_errors_of_mpi = 0;
};

class Trial {
 public:
  explicit Trial(Tally& tally) : tally_(tally) {}

  void run(std::uint64_t seed) {
    TypeMaker maker(seed);
    maker_ = &maker;
    present_seed = seed;
    present_work = "making the type";
    const RandomType type = maker.make(maker.small(1, 5));
    type_ = &type;
    elements_ = maker.number(1, 3);
    MPI_Datatype handle = type.type;
    if (!survives("MPI_Type_commit", [&] { return MPI_Type_commit(&handle); })) {
      note_error_of_mpi("MPI_Type_commit");
      return;
    }
    bytes_.clear();
    for (std::int64_t i = 0; i < elements_; ++i) {
      for (const std::int64_t byte : type.bytes) {
        bytes_.push_back(byte + i * type.extent);
      }
    }
    ++tally_.types;
    tally_.bytes += bytes_.size();
    present_work = "describe";
    const Description description = describe(type.type);
    layout_ = description.of(elements_);
    if (description.extent != type.extent || bytes_of(layout_) != bytes_) {
      fail("the layout names other bytes than the type");
      return;
    }
    if (!bytes_.empty()) {
      pack();
      if (names_no_byte_twice()) {
        ++tally_.unpacked;
        unpack();
      }
    }
  }

 private:
  static Bytes bytes_of(const Layout& layout) {
    Bytes bytes;
    for (layout::RunWalk walk(layout); !walk.is_done(); walk.next()) {
      for (std::int64_t i = 0; i < walk.run().bytes; ++i) {
        bytes.push_back(walk.run().offset + i);
      }
    }
    return bytes;
  }

  bool names_no_byte_twice() const {
    Bytes sorted = bytes_;
    std::ranges::sort(sorted);
    return std::ranges::adjacent_find(sorted) == sorted.end();
  }

  void fail(std::string_view what, const Mover* mover = nullptr) {
    ++tally_.failures;
    fmt::print(stderr, "{}\n  type: {} elements of {}\n  mover: {}\n  repeat with --seed={} --types=1\n", what,
               elements_, type_->text, mover != nullptr ? mover->describe() : "none", std::uint64_t{present_seed});
  }

  /// What MPI does otherwise than the type map says is a failure, if not ours, unless it is known.
  void note_error_of_mpi(std::string_view call) {
    if (maker_->made_trouble()) {
      ++tally_.known_errors_of_mpi;
    } else {
      fail(fmt::format("{} fails, or moves other bytes than the type names", call));
    }
  }

  /// Places what the bytes lie in against one of the two forbidden pages.
  void place_at_random(GuardedMemory& memory, const Bytes& bytes) {
    const auto [least, most] = std::ranges::minmax_element(bytes);
    memory.place(*least, *most + 1, maker_->one_in(2));
  }

  Bytes packed_bytes() const {
    Bytes bytes;
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      bytes.push_back(static_cast<std::int64_t>(i));
    }
    return bytes;
  }

  /// The packed bytes from `first` to `last` moved one by one, in memory filled with poison.
  std::vector<std::byte> expected(const GuardedMemory& from, const Bytes& from_bytes, const GuardedMemory& to,
                                  const Bytes& to_bytes, std::int64_t first, std::int64_t last) const {
    to.poison();
    for (std::int64_t i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      to.address()[to_bytes[at]] = from.address()[from_bytes[at]];
    }
    const auto window = to.window();
    std::vector<std::byte> copy(window.begin(), window.end());
    to.poison();
    return copy;
  }

  void pack() {
    const Bytes packed = packed_bytes();
    place_at_random(source_, bytes_);
    place_at_random(destination_, packed);
    fill_at_random(source_.window());
    const auto all = expected(source_, bytes_, destination_, packed, 0, size());
    int position = 0;
    const bool is_done = survives("MPI_Pack", [&] {
      return MPI_Pack(source_.address(), static_cast<int>(elements_), type_->type, destination_.address(),
                      static_cast<int>(size()), &position, MPI_COMM_SELF);
    });
    if (!is_done || position != size() || !std::ranges::equal(destination_.window(), all)) {
      note_error_of_mpi("MPI_Pack");
    }
    move(layout_, bytes_, Layout::contiguous(size()), packed, all, "pack");
  }

  void unpack() {
    const Bytes packed = packed_bytes();
    place_at_random(source_, packed);
    place_at_random(destination_, bytes_);
    fill_at_random(source_.window());
    const auto all = expected(source_, packed, destination_, bytes_, 0, size());
    int position = 0;
    const bool is_done = survives("MPI_Unpack", [&] {
      return MPI_Unpack(source_.address(), static_cast<int>(size()), &position, destination_.address(),
                        static_cast<int>(elements_), type_->type, MPI_COMM_SELF);
    });
    if (!is_done || position != size() || !std::ranges::equal(destination_.window(), all)) {
      note_error_of_mpi("MPI_Unpack");
    }
    move(Layout::contiguous(size()), packed, layout_, bytes_, all, "unpack");
  }

  void move(const Layout& from, const Bytes& from_bytes, const Layout& to, const Bytes& to_bytes,
            const std::vector<std::byte>& all, const char* work) {
    present_work = work;
    const Hint hint = maker_->one_in(2) ? Hint::reuse : Hint::streaming;
    for (const Code code : {Code::never, Code::at_once, Code::when_hot}) {
      if (code == Code::when_hot && !maker_->one_in(50)) {
        continue;
      }
      const Mover mover = Mover::compile(from, to, hint, code);
      const int uses = code == Code::when_hot ? 100 : 1;
      for (int use = 0; use < uses; ++use) {
        destination_.poison();
        mover(source_.address(), destination_.address());
        mover::finish_streaming();
        if (!std::ranges::equal(destination_.window(), all)) {
          fail(fmt::format("{} moved other bytes than the type names", work), &mover);
          return;
        }
      }
      tally_.with_code += mover.has_code() ? 1 : 0;
      move_in_parts(mover, from_bytes, to_bytes, all, work);
    }
  }

  /// All of it in parts from a random cut to the next, in any order; then a part alone.
  void move_in_parts(const Mover& mover, const Bytes& from_bytes, const Bytes& to_bytes,
                     const std::vector<std::byte>& all, const char* work) {
    Bytes cuts{0, size()};
    for (std::int64_t i = maker_->number(0, 4); i > 0; --i) {
      cuts.push_back(maker_->number(0, size()));
    }
    std::ranges::sort(cuts);
    destination_.poison();
    for (std::size_t i = cuts.size() - 1; i-- > 0;) {
      mover.move_part(source_.address(), destination_.address(), cuts[i], cuts[i + 1]);
    }
    mover::finish_streaming();
    if (!std::ranges::equal(destination_.window(), all)) {
      fail(fmt::format("{} in parts cut at {} moved other bytes than the type names", work, fmt::join(cuts, ", ")),
           &mover);
      return;
    }
    const std::int64_t first = maker_->number(0, size());
    const std::int64_t last = maker_->number(first, size());
    const auto part = expected(source_, from_bytes, destination_, to_bytes, first, last);
    mover.move_part(source_.address(), destination_.address(), first, last);
    mover::finish_streaming();
    if (!std::ranges::equal(destination_.window(), part)) {
      fail(fmt::format("{} of bytes {} to {} alone moved others", work, first, last), &mover);
    }
  }

  void fill_at_random(std::span<std::byte> bytes) const {
    std::uint64_t state = present_seed;
    for (std::byte& byte : bytes) {
      state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
      byte = static_cast<std::byte>(state >> 56);
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }

  // From -max_reach to max_reach, two further elements, and room beside.
  static constexpr std::size_t pages = 4 * TypeMaker::max_reach / 4096 + 8;

  Tally& tally_;
  TypeMaker* maker_ = nullptr;
  const RandomType* type_ = nullptr;
  std::int64_t elements_ = 0;
  Bytes bytes_;
  Layout layout_;
  GuardedMemory source_{pages};
  GuardedMemory destination_{pages};
};

struct Options {
  double seconds = 10;
  std::uint64_t types = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t seed = 20261121;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::string value(argument.substr(std::min(argument.find('=') + 1, argument.size())));
    if (argument.starts_with("--seconds=")) {
      options.seconds = std::atof(value.c_str());
    } else if (argument.starts_with("--types=")) {
      options.types = std::strtoull(value.c_str(), nullptr, 10);
    } else if (argument.starts_with("--seed=")) {
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else {
      fmt::print(stderr, "differential: {} is none of --seconds=S, --types=N and --seed=K\n", argument);
      std::exit(2);
    }
  }
  return options;
}

int run(const Options& options) {
  constexpr std::uint64_t max_failures = 10;
  Tally tally;
  Trial trial(tally);
  const double start = seconds();
  while (tally.types < options.types && tally.failures < max_failures && seconds() - start < options.seconds) {
    trial.run(options.seed + tally.types);
  }
  fmt::print("{} types from seed {}: {} bytes, {} unpacked as well, {} movers with machine code, {:.0f} s\n",
             tally.types, options.seed, tally.bytes, tally.unpacked, tally.with_code, seconds() - start);
  fmt::print("{} failures; {} times MPI itself went wrong on what it is known to\n", tally.failures,
             tally.known_errors_of_mpi);
  return tally.failures > 0 || tally.types == 0 ? 1 : 0;
}

}  // namespace
}  // namespace penstock::datatype

int main(int argc, char** argv) {
  const auto options = penstock::datatype::read_options(argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(fault, penstock::datatype::report_fault);
  }
  const int failure = penstock::datatype::run(options);
  MPI_Finalize();
  return failure;
}
