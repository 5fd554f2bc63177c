// `penstock try`: runs a program as it is and with the libraries for preloading, and tells what they served and gained.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/cli/report/terminal.hpp"

extern char** environ;

namespace penstock::cli {
namespace {

struct TryOptions {
  std::vector<std::string> program;
  std::vector<std::string> libraries{"fftw", "mpi", "scalapack"};
  bool has_libraries = false;  ///< they were asked for
  std::string mpi = PENSTOCK_MPI_NAME;
  int repetitions = 1;
};

/// A library for preloading that is there.
struct Library {
  std::string name;
  std::string path;
};

/// The libraries of these names, beside the command or where it is installed with them.
std::vector<Library> find_libraries(const TryOptions& options) {
  if (options.mpi.empty()) {
    throw Error("this command is built without MPI: --mpi names the program's");
  }
  const std::filesystem::path folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  std::vector<Library> found;
  for (const std::string& name : options.libraries) {
    const std::string file = fmt::format("libpenstock-{}-{}.so", name, options.mpi);
    for (const auto& place : {folder, folder / PENSTOCK_PRELOAD_FOLDER}) {
      if (std::filesystem::exists(place / file)) {
        found.push_back({name, std::filesystem::canonical(place / file).string()});
        break;
      }
    }
    if (options.has_libraries && (found.empty() || found.back().name != name)) {
      throw Error(fmt::format("--libraries {}: there is no {} beside this command or in its installation", name, file));
    }
  }
  if (found.empty()) {
    throw Error(
        fmt::format("--mpi {}: no library for preloading is beside this command or in its installation", options.mpi));
  }
  return found;
}

/// A run of the program.
struct ProgramRun {
  double time_s = 0;
  int status = 0;  ///< as a shell has it: 128 and the signal where one ended it
  std::string output;
  std::string errors;
};

/// A file without a name, for what a program writes.
class Captured {
 public:
  Captured() : file_(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
    if (file_ < 0) {
      throw Error(fmt::format("/tmp takes no file: {}", std::strerror(errno)));
    }
  }
  ~Captured() { ::close(file_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  int file() const noexcept { return file_; }
  std::string text() const {
    std::string all(static_cast<std::size_t>(std::max<off_t>(::lseek(file_, 0, SEEK_END), 0)), '\0');
    std::size_t done = 0;
    while (done < all.size()) {
      const ssize_t got = ::pread(file_, all.data() + done, all.size() - done, static_cast<off_t>(done));
      if (got <= 0) {
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    all.resize(done);
    return all;
  }

 private:
  int file_;
};

/// The environment of the program, where `set` replaces variables of the same names.
std::vector<std::string> environment_with(const std::vector<std::string>& set) {
  std::vector<std::string> all = set;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    if (std::ranges::none_of(set, [&](const std::string& other) { return other.starts_with(name); })) {
      all.push_back(text);
    }
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

ProgramRun run_program(std::vector<std::string> program, const std::vector<std::string>& set) {
  const Captured output;
  const Captured errors;
  std::vector<std::string> environment = environment_with(set);
  const std::vector<char*> arguments = pointers_to(program);
  const std::vector<char*> variables = pointers_to(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output.file(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.file(), STDERR_FILENO);
  pid_t child = 0;
  const double begin_s = seconds();
  const int failure = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw Error(fmt::format("{}: {}", program.front(), std::strerror(failure)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {.time_s = seconds() - begin_s,
          .status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .output = output.text(),
          .errors = errors.text()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// How two outputs differ, line by line.
struct Comparison {
  std::size_t lines = 0;  ///< of the longer one
  std::size_t differing = 0;
  std::string first{};  ///< the first lines that differ
  std::string first_other{};
};

Comparison compare(const std::string& one, const std::string& other) {
  const std::vector<std::string> lines = lines_of(one);
  const std::vector<std::string> others = lines_of(other);
  Comparison result{.lines = std::max(lines.size(), others.size())};
  for (std::size_t i = 0; i < result.lines; ++i) {
    const std::string line = i < lines.size() ? lines[i] : "";
    const std::string other_line = i < others.size() ? others[i] : "";
    if (line != other_line && result.differing++ == 0) {
      result.first = line;
      result.first_other = other_line;
    }
  }
  return result;
}

/// What the libraries told at the program's end: from the first line of theirs on.
std::string told(const ProgramRun& with, const ProgramRun& without) {
  std::string text;
  const std::vector<std::string> known = lines_of(without.errors);
  for (const std::string& line : lines_of(with.errors)) {
    if (std::ranges::find(known, line) == known.end()) {
      text += "  " + line + "\n";
    }
  }
  return text.empty() ? "  nothing\n" : text;
}

void try_program(Session& session, const TryOptions& options) {
  Results results(session, "try");
  const std::vector<Library> libraries = find_libraries(options);
  std::vector<std::string> preloaded, names;
  for (const Library& library : libraries) {
    preloaded.push_back(library.path);
    names.push_back(library.name);
  }
  if (const char* const others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0') {
    preloaded.emplace_back(others);
  }
  const std::vector<std::string> with_libraries{fmt::format("LD_PRELOAD={}", fmt::join(preloaded, ":")),
                                                "PENSTOCK_FFTW=stats", "PENSTOCK_MPI=stats"};
  Progress progress(session);
  session.has_begun_work = true;
  std::vector<double> without_s, with_s;
  ProgramRun without, with;
  for (int i = 0; i < options.repetitions; ++i) {
    progress.show("run as it is", 2 * i + 1, 2 * options.repetitions);
    without = run_program(options.program, {});
    without_s.push_back(without.time_s);
    progress.show(fmt::format("run with {}", fmt::join(names, ", ")), 2 * i + 2, 2 * options.repetitions);
    with = run_program(options.program, with_libraries);
    with_s.push_back(with.time_s);
  }
  progress.show("");
  const double gain = *std::ranges::min_element(without_s) / *std::ranges::min_element(with_s);
  const Comparison outputs = compare(without.output, with.output);
  const std::string served = told(with, without);
  if (session.has_table()) {
    print_output("Program      {}\n", fmt::join(options.program, " "));
    print_output("Libraries    {}\n", fmt::join(preloaded, ", "));
    print_output("As it is     min {:.3f} s of {}, exit status {}\n", *std::ranges::min_element(without_s),
                 options.repetitions, without.status);
    print_output("With them    min {:.3f} s, exit status {}: {}\n", *std::ranges::min_element(with_s), with.status,
                 strong(fmt::format("{:.2f} times as fast", gain)));
    if (outputs.differing == 0) {
      print_output("Output       the same {} lines\n", outputs.lines);
    } else {
      print_output("Output       {} of {} lines differ, first '{}' and '{}'\n", outputs.differing, outputs.lines,
                   outputs.first, outputs.first_other);
    }
    print_output("Served       what the libraries told:\n{}", served);
  }
  results.write({{"program", options.program},
                 {"libraries", preloaded},
                 {"without_s", without_s},
                 {"with_s", with_s},
                 {"times_as_fast", gain},
                 {"status_without", without.status},
                 {"status_with", with.status},
                 {"output_lines", outputs.lines},
                 {"output_lines_that_differ", outputs.differing},
                 {"served", served}});
  if (with.status != without.status) {
    throw Error(fmt::format("the program ends with status {} as it is, and with {} with the libraries", without.status,
                            with.status));
  }
}

}  // namespace

Body declare_try(CLI::App& app) {
  auto options = std::make_shared<TryOptions>();
  add_value(app, "--libraries", "NAME[,NAME...]", "Which of fftw, mpi and scalapack are preloaded (all that are there)",
            [options](const std::string& text) {
              options->libraries.clear();
              options->has_libraries = true;
              std::istringstream names(text);
              for (std::string name; std::getline(names, name, ',');) {
                options->libraries.push_back(parse_choice<std::string>(
                    "--libraries", name, {{"fftw", "fftw"}, {"mpi", "mpi"}, {"scalapack", "scalapack"}}));
              }
            });
  add_value(app, "--mpi", "openmpi|mpich", "The program's MPI (that of this command)",
            [options](const std::string& text) {
              options->mpi = parse_choice<std::string>("--mpi", text, {{"openmpi", "openmpi"}, {"mpich", "mpich"}});
            });
  add_value(app, "--reps", "N", "Runs as it is and with the libraries, by turns (1)",
            [options](const std::string& text) {
              options->repetitions = static_cast<int>(parse_integer("--reps", text, 1, 1000));
            });
  app.add_option("PROGRAM", options->program,
                 "The program and its arguments, behind --, such as -- mpirun -n 2 ./program (none)")
      ->option_text("...");
  return [options](Session& session) {
    if (options->program.empty()) {
      throw Error("no program to try: penstock try -- mpirun -n 2 ./program");
    }
    try_program(session, *options);
  };
}

}  // namespace penstock::cli
