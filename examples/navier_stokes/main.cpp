// The decay of a Taylor-Green vortex by a pseudo-spectral method: mpirun -n 4 navier_stokes --size 128 --plot decay.svg
//
// Reads the options, takes the steps, writes what is asked for. README.md tells of the method and how far it is right.
#include <cmath>
#include <cstdio>
#include <penstock/base/base.hpp>
#include <span>
#include <string>

#include "check.hpp"
#include "checkpoint.hpp"
#include "display.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "solver.hpp"

namespace navier_stokes {
namespace {

using penstock::gas::Team;

/// Collective: the options, the same on every rank; throws Error on every rank.
Options agree_on_options(const Team& team, std::span<char* const> arguments) {
  std::string line;
  for (const char* argument : arguments) {
    line += std::string(argument) + '\0';
  }
  team.agree_on("the command line", line);
  Options options;
  team.together([&] { options = read_options(arguments); });
  if (options.threads == 0) {
    options.threads = team.size() == 1 ? penstock::usable_processors() : 1;
  }
  return options;
}

/// Collective: the ranks of `world`, with what is to carry data between them.
Team ranks_of(const Team& world, const std::string& transport) {
#if PENSTOCK_HAS_MPI
  if (transport != "auto") {
    return penstock::gas::world_of(MPI_COMM_WORLD, penstock::gas::reach_named(transport));
  }
#else
  if (transport != "auto") {
    throw penstock::Error("--transport " + transport + ": this build has no MPI, and so one rank");
  }
#endif
  return world.split(0, world.rank());
}

/// Collective: throws Error on every rank where what the run is to leave could not be written at its end.
void find_room(const Team& team, const Options& options) {
  team.together([&] {
    if (team.rank() != 0) {
      return;
    }
    for (const std::string& path : {options.csv_path, options.plot_path, options.checkpoint_path}) {
      if (!path.empty()) {
        const penstock::Draft draft(path);
      }
    }
    if (!options.plot_path.empty() && !can_draw()) {
      throw penstock::Error("--plot " + options.plot_path + ": gnuplot is not found; install it (gnuplot-nox)");
    }
  });
}

/// Collective: steps on to the end.
void go_on(const Team& team, const Options& options, Solver& solver, History& history) {
  Display display(team, options);
  display.show(history);
  const std::int64_t steps = options.steps();
  const penstock::fft::Breakdown before = solver.transforms().spent();
  const auto first = static_cast<std::int64_t>(history.size()) - 1;
  double spent_s = 0;
  for (std::int64_t step = first + 1; step <= steps; ++step) {
    const double begin_s = penstock::seconds();
    history.push_back(solver.step(history.back()));
    spent_s += penstock::seconds() - begin_s;
    if (!std::isfinite(history.back().energy)) {
      throw penstock::Error("the flow has grown beyond all bounds in step " + std::to_string(step) +
                            ": give a --dt that is less than " + std::to_string(options.parameters.dt));
    }
    const bool is_due = step == steps || (options.checkpoint_every > 0 && step % options.checkpoint_every == 0);
    if (is_due && !options.checkpoint_path.empty()) {
      write_checkpoint(team, options.checkpoint_path, options.parameters, history, solver);
    }
    display.show(history);
  }
  print_times(team, options, steps - first, spent_s, before, solver.transforms());
}

/// Collective: the whole run. Returns whether what was checked is right; `has_begun` is set once all that was asked for
/// has proved usable.
bool run(const Team& world, std::span<char* const> arguments, bool& has_begun) {
  const Options options = agree_on_options(world, arguments);
  if (options.wants_help) {
    if (world.rank() == 0) {
      std::fputs(help().c_str(), stdout);
    }
    return true;
  }
  const Team team = ranks_of(world, options.transport);
  const Parameters& parameters = options.parameters;
  find_room(team, options);
  Solver solver(team, parameters, options.threads, options.effort);
  History history;
  if (options.restart_path.empty()) {
    history.push_back(solver.begin([&](const Vector& point) { return first_velocity(parameters.flow, point); }));
  } else {
    history = read_checkpoint(team, options.restart_path, parameters, solver);
  }
  has_begun = true;
  go_on(team, options, solver, history);
  team.together([&] {
    if (team.rank() == 0 && !options.csv_path.empty()) {
      penstock::write_text(options.csv_path, csv_of(parameters, history));
    }
    if (team.rank() == 0 && !options.plot_path.empty()) {
      draw(parameters, history, options.plot_path);
    }
  });
  return !options.is_checked || check(team, parameters, history, solver);
}

/// Runs on the ranks of a world; returns the status to end with, and prints one message where there is one.
int run_on(const Team& team, std::span<char* const> arguments) {
  bool has_begun = false;
  try {
    return run(team, arguments, has_begun) ? 0 : 1;
  } catch (const penstock::gas::PeerFailure& failure) {
    if (failure.is_spokesman()) {
      std::fprintf(stderr, "navier_stokes: %s\n", failure.what());
    }
  } catch (const penstock::Error& error) {
    if (team.rank() == 0) {
      std::fprintf(stderr, "navier_stokes: %s\n", error.what());
    }
  }
  return has_begun ? 1 : 2;
}

}  // namespace
}  // namespace navier_stokes

int main(int argc, char** argv) {
  const std::span<char* const> arguments(argv + 1, argv + argc);
#if PENSTOCK_HAS_MPI
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  int status = 1;
  try {
    status = navier_stokes::run_on(penstock::gas::world_of(MPI_COMM_WORLD), arguments);
  } catch (const penstock::Error& error) {  // on every rank: there is no world
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
      std::fprintf(stderr, "navier_stokes: %s\n", error.what());
    }
  }
  MPI_Finalize();
  return status;
#else
  return navier_stokes::run_on(penstock::gas::world_alone(), arguments);
#endif
}
