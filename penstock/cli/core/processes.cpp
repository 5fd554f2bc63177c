#include "penstock/cli/core/processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "penstock/base/base.hpp"
#include "penstock/base/signals.hpp"

namespace penstock::cli {
namespace {

/// The number that the first of these environment variables holds, or -1.
int number_from(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name); text != nullptr) {
      const std::string_view digits(text);
      int value = -1;
      if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc()) {
        return value;
      }
    }
  }
  return -1;
}

// Open MPI's mpirun, MPICH's (and its relatives') mpiexec, Slurm's srun.
int launched_size() {
  return number_from({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
}
int launched_rank() {
  return number_from({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"});
}

// How long a failed rank waits for the others: long enough for ranks that met the same failure on a crowded machine.
constexpr double patience_s = 5;
// What one that has nothing to tell of a rank that has died leaves the one that has.
constexpr double time_to_tell_s = 2;

// An outcome as it travels between ranks.
struct Verdict {
  int status;
  std::array<char, 1020> message;
};

}  // namespace

// Takes no memory, as it may tell that there is none; longer messages are cut.
void print_failure(const std::string& message) {
  std::array<char, 4096> line;
  const auto end = fmt::format_to_n(line.begin(), line.size() - 1, "penstock: {}", message).out;
  std::replace_if(
      line.begin(), end, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  *end = '\n';
  std::fwrite(line.data(), 1, static_cast<std::size_t>(end - line.begin()) + 1, stderr);
}

bool Processes::is_launched() {
  return launched_size() > 0 || number_from({"PMI_RANK", "PMIX_RANK"}) >= 0;
}

bool Processes::is_silent_copy() {
  return launched_rank() > 0;
}

#if PENSTOCK_HAS_MPI

struct Processes::State {
  MPI_Comm comm = MPI_COMM_NULL;  // for the beginning and the end alone, beside the teams' own
  int rank = 0;
  int size = 1;
  bool has_mpi = false;

  void start() {
    // The library makes one call of MPI's at a time. More than that level costs time in every call, and takes one-sided
    // calls over TCP from Open MPI 4. What is given decides what plans allow; see Team::allows_threads.
    int level = MPI_THREAD_SINGLE;
    const SignalDispositions given_back;  // an MPI that can use UCX loads it, which installs handlers
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    has_mpi = true;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
};

Processes::Processes() : state_(std::make_unique<State>()) {
  if (!is_launched()) {
    return;
  }
  state_->start();
  if (launched_size() > 1 && launched_size() != state_->size) {
    const std::string message = fmt::format(
        "the launcher started {} processes, but MPI shows this one {}: start it with the launcher of the MPI that it "
        "was built with (see penstock --version)",
        launched_size(), state_->size);
    MPI_Comm_free(&state_->comm);
    MPI_Finalize();
    throw Error(message);
  }
}

Processes::~Processes() {
  if (state_->has_mpi) {
    MPI_Comm_free(&state_->comm);
    MPI_Finalize();
  }
}

void Processes::start_mpi() {
  if (!state_->has_mpi) {
    state_->start();
  }
}

void Processes::agree_on(const std::string& what, const std::string& text) const {
  if (state_->size > 1) {
    gas::world_of(state_->comm, gas::reach_named("mpi")).agree_on(what, text);
  }
}

void Processes::agree_on_arguments(const std::vector<std::string>& arguments) const {
  if (state_->size == 1) {
    return;
  }
  const gas::Team team = gas::world_of(state_->comm, gas::reach_named("mpi"));
  team.agree_on("number of arguments", std::to_string(arguments.size()));
  for (const std::string& argument : arguments) {
    team.agree_on("arguments", argument);
  }
}

// MPI is not asked for anything any more: it would go on with messages whose memory has been given back.
void Processes::end_all(const gas::PeerFailure& failure) {
  if (failure.is_spokesman()) {
    print_failure(failure.what());
  } else {
    std::this_thread::sleep_for(std::chrono::duration<double>(time_to_tell_s));
  }
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();  // MPI_Abort does not return
}

int Processes::conclude(const Outcome& mine) {
  if (state_->size == 1) {
    if (mine.status != 0) {
      print_failure(mine.message);
    }
    return mine.status;
  }
  Verdict verdict{.status = mine.status, .message = {}};
  mine.message.copy(verdict.message.data(), verdict.message.size() - 1);
  std::vector<Verdict> all(static_cast<std::size_t>(state_->size));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&verdict, sizeof verdict, MPI_BYTE, all.data(), sizeof verdict, MPI_BYTE, state_->comm, &request);
  const double deadline_s = seconds() + patience_s;
  int is_done = 0;
  for (Backoff backoff;; backoff.pause()) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) {
      break;
    }
    if (mine.status != 0 && seconds() > deadline_s) {
      print_failure(fmt::format("rank {} alone: {}", state_->rank, mine.message));
      MPI_Abort(MPI_COMM_WORLD, mine.status);
    }
  }
  int status = 0;
  for (const Verdict& other : all) {
    if (other.status != 0 && status == 0 && is_first()) {
      print_failure(other.message.data());
    }
    status = std::max(status, other.status);
  }
  return status;
}

#else

struct Processes::State {
  static constexpr int rank = 0;
  static constexpr int size = 1;
  static constexpr bool has_mpi = false;
};

Processes::Processes() : state_(std::make_unique<State>()) {
  if (is_launched() && launched_size() > 1) {
    throw Error(fmt::format(
        "the launcher started {} processes, but this build of penstock has no MPI: start one with --ranks N instead",
        launched_size()));
  }
}

Processes::~Processes() = default;

void Processes::start_mpi() {
  throw Error("this build of penstock has no MPI: use --transport threads with --ranks N");
}

void Processes::agree_on(const std::string&, const std::string&) const {}

void Processes::agree_on_arguments(const std::vector<std::string>&) const {}

void Processes::end_all(const gas::PeerFailure& failure) {
  print_failure(failure.what());
  std::exit(1);
}

int Processes::conclude(const Outcome& mine) {
  if (mine.status != 0) {
    print_failure(mine.message);
  }
  return mine.status;
}

#endif

bool Processes::is_first() const noexcept {
  return state_->rank == 0;
}
int Processes::size() const noexcept {
  return state_->size;
}
bool Processes::has_mpi() const noexcept {
  return state_->has_mpi;
}

}  // namespace penstock::cli
