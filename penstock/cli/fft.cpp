// `penstock fft`: its options.
#include "penstock/fft/fft.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/parse.hpp"
#include "penstock/cli/subcommand.hpp"

namespace penstock::cli {
namespace {

void run_fft(Session& session, fft::Options options) {
  options.threads = session.threads;
  fft::Plan<double> plan(session.team, options);
  session.has_begun_work = true;
  std::vector<std::complex<double>> field(static_cast<std::size_t>(plan.input_stride()));
  const double begin_s = seconds();
  plan.forward(field, field);
  session.team.barrier();
  if (session.has_table()) {
    fmt::print("forward {}\n", format_seconds(seconds() - begin_s));
  }
}

}  // namespace

Body declare_fft(CLI::App& app) {
  auto options = std::make_shared<fft::Options>();
  add_value(app, "--size", "NXxNYxNZ", "Points in each direction", [options](const std::string& text) {
    options->size = parse_size("--size", text);
  })->required();
  add_value(app, "--grid", "TYxTZ|auto", "Processor grid",
            [options](const std::string& text) { options->grid = parse_grid("--grid", text); });
  return [options](Session& session) { run_fft(session, *options); };
}

}  // namespace penstock::cli
