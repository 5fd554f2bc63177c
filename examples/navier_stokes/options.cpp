#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <penstock/base/error.hpp>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <vector>

namespace navier_stokes {
namespace {

using penstock::Error;

// The samples of so many steps take 240 MB.
constexpr std::int64_t max_steps = 10'000'000;

/// An option, and how its value is taken; without a name for a value it has none.
struct Option {
  std::string_view name;
  std::string_view value;
  std::string_view help;
  std::function<void(Options&, const std::string& text)> take;
};

template <class Number>
Number number_of(std::string_view name, const std::string& text, Number least, Number most) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stop != end || !(number >= least) || !(number <= most)) {
    std::ostringstream message;
    message << name << " '" << text << "': a number from " << least << " to " << most << " is wanted";
    throw Error(message.str());
  }
  return number;
}

template <class Value>
Value& at(Options& options, Value Options::*member) {
  return options.*member;
}
template <class Value>
Value& at(Options& options, Value Parameters::*member) {
  return options.parameters.*member;
}

/// An option whose value is a number, a member of the options or the parameters.
template <class Number, class Owner>
Option number_option(std::string_view name, std::string_view value, std::string_view help, Number Owner::*member,
                     std::type_identity_t<Number> least, std::type_identity_t<Number> most) {
  return {name, value, help, [=](Options& options, const std::string& text) {
            at(options, member) = number_of<Number>(name, text, least, most);
          }};
}

Option path_option(std::string_view name, std::string_view help, std::string Options::*member) {
  return {name, "FILE", help, [=](Options& options, const std::string& text) {
            if (text.empty()) {
              throw Error(std::string(name) + ": the name of a file is wanted");
            }
            options.*member = text;
          }};
}

Flow flow_of(const std::string& text) {
  for (const Flow flow : {Flow::vortex_3d, Flow::vortex_2d}) {
    if (text == name_of(flow)) {
      return flow;
    }
  }
  throw Error("--flow '" + text + "': 3d or 2d is wanted");
}

std::vector<Option> all_options() {
  return {
      {"--flow", "3d|2d", "Taylor & Green's vortex, or the plane one carried by a wind (3d)",
       [](Options& options, const std::string& text) { options.parameters.flow = flow_of(text); }},
      number_option("--size", "N", "points in each direction (64)", &Parameters::n, 4, 16384),
      number_option("--reynolds", "RE", "Reynolds number: 1 / viscosity (100)", &Parameters::reynolds, 1e-3, 1e9),
      number_option("--time", "T", "until when (10)", &Options::time, 0, 1e6),
      number_option("--dt", "DT", "a step of time (what is stable, with a margin)", &Parameters::dt, 1e-9, 1e3),
      {"--transport", "NAME", "between ranks: auto, shm, mpi, rma, ucx, shm+mpi, shm+rma, shm+ucx (auto)",
       [](Options& options, const std::string& text) { options.transport = text; }},
      number_option("--threads", "N", "of each rank (all processors for one rank, else 1)", &Options::threads, 1, 4096),
      {"--measure", "", "let the transforms measure: faster, with other last bits in each run",
       [](Options& options, const std::string&) { options.effort = penstock::fft::Effort::measure; }},
      number_option("--rows", "N", "to print, about (20)", &Options::rows, 1, 1000000),
      path_option("--csv", "write energy, enstrophy and dissipation after each step", &Options::csv_path),
      path_option("--plot", "draw energy and dissipation as SVG, with gnuplot", &Options::plot_path),
      path_option("--checkpoint", "write the state, at the end and as often as --checkpoint-every says",
                  &Options::checkpoint_path),
      number_option("--checkpoint-every", "STEPS", "write the state this often", &Options::checkpoint_every, 1,
                    1000000000),
      path_option("--restart", "go on from a state, with the same options", &Options::restart_path),
      {"--check", "", "compare with what is known of the flow; status 1 where it differs",
       [](Options& options, const std::string&) { options.is_checked = true; }},
      {"--help", "", "print this and leave", [](Options& options, const std::string&) { options.wants_help = true; }},
  };
}

Option find_option(std::string_view name) {
  for (const Option& option : all_options()) {
    if (option.name == name) {
      return option;
    }
  }
  throw Error(std::string(name) + ": there is no such option; see navier_stokes --help");
}

}  // namespace

Options read_options(std::span<char* const> arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Option option = find_option(arguments[i]);
    std::string value;
    if (!option.value.empty()) {
      if (++i == arguments.size()) {
        throw Error(std::string(option.name) + " wants a value: " + std::string(option.value));
      }
      value = arguments[i];
    }
    option.take(options, value);
  }
  if (options.checkpoint_every > 0 && options.checkpoint_path.empty()) {
    throw Error("--checkpoint-every " + std::to_string(options.checkpoint_every) + ": --checkpoint FILE is wanted too");
  }
  if (options.parameters.dt == 0) {
    options.parameters.dt = safe_dt(options.parameters);
  }
  if (options.steps() > max_steps) {
    throw Error("--time and --dt make " + std::to_string(options.steps()) + " steps: at most " +
                std::to_string(max_steps) + " are remembered");
  }
  return options;
}

std::string help() {
  std::string text =
      "The decay of a Taylor-Green vortex, by the Navier-Stokes equations in Fourier modes.\n"
      "usage: navier_stokes [options], mpirun -n 4 navier_stokes [options]\n";
  for (const Option& option : all_options()) {
    std::string line = "  " + std::string(option.name) + " " + std::string(option.value);
    line.resize(std::max<std::size_t>(line.size() + 1, 28), ' ');
    text += line + std::string(option.help) + "\n";
  }
  return text;
}

}  // namespace navier_stokes
