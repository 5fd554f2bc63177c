#include "penstock/cli/fft/fft_options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <limits>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/machine_rates.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/fft/plan_options.hpp"
#include "penstock/cli/report/result_file.hpp"
#include "penstock/fft/files/files.hpp"

namespace penstock::cli {
namespace {

constexpr std::int64_t most = std::numeric_limits<int>::max();

void declare_problem(CLI::App& app, const std::shared_ptr<FftOptions>& options) {
  add_value(app, "--size", "NXxNYxNZ", "Points in each direction, of a field of noise, or of the input file",
            [options](const std::string& text) { options->fft.size = parse_size("--size", text); });
  add_value(app, "--input", "FILE",
            "Field to transform: .npy (shape nz, ny, nx), .nii, .nii.gz, .mrc, or HDF5's, as F.h5:/velocity/u",
            [options](const std::string& text) { options->input_path = text; });
  add_value(app, "--type", "c2c|r2c|r2r",
            "Complex or real fields; r2r: real ones by sines, cosines and their like (as the input file; else c2c)",
            [options](const std::string& text) {
              options->type = parse_choice<fft::Type>(
                  "--type", text, {{"c2c", fft::Type::c2c}, {"r2c", fft::Type::r2c}, {"r2r", fft::Type::r2r}});
            });
  add_value(
      app, "--kinds", "KIND[,KIND,KIND]",
      "For all directions or x,y,z: redft00|10|01|11, rodft00|10|01|11, r2hc, hc2r, dht as in FFTW, or fourier (of "
      "--type r2r: redft10; else fourier)",
      [options](const std::string& text) {
        options->fft.kinds = parse_kinds("--kinds", text);
        options->has_kinds = true;
      });
  add_value(app, "--along", "DIRECTIONS", "Directions that are transformed, such as xy (xyz)",
            [options](const std::string& text) { options->fft.along = parse_directions("--along", text); });
  add_value(app, "--sequence", "DIRECTIONS", "The order in which directions are transformed, such as zxy (xyz)",
            [options](const std::string& text) { options->fft.sequence = parse_sequence("--sequence", text); });
  add_value(app, "--precision", "single|double", "Precision of the transform (as the input file; else double)",
            [options](const std::string& text) {
              options->is_single = parse_choice<bool>("--precision", text, {{"single", true}, {"double", false}});
            });
  add_value(app, "--batch", "N", "Fields transformed per call (1)", [options](const std::string& text) {
    options->fft.batch = static_cast<int>(parse_integer("--batch", text, 1, most));
  });
}

void declare_transform(CLI::App& app, const std::shared_ptr<FftOptions>& options) {
  add_value(app, "--scaling", "none|symmetric|full",
            "Factor on the spectrum: 1, 1/sqrt(N) or 1/N; the way back has the rest (none)",
            [options](const std::string& text) {
              options->scaling = parse_choice<fft::Scaling>(
                  "--scaling", text,
                  {{"none", fft::Scaling::none}, {"symmetric", fft::Scaling::symmetric}, {"full", fft::Scaling::full}});
            });
  add_value(app, "--layout", "transposed|as-input",
            "Spectrum in z-pencils, the cheap way, or like the input; index ranges: in programs only (transposed)",
            [options](const std::string& text) {
              options->fft.output = parse_choice<fft::Output>(
                  "--layout", text, {{"transposed", fft::Output::transposed}, {"as-input", fft::Output::as_input}});
            });
  add_plan_options(app, std::shared_ptr<fft::Options>(options, &options->fft));
  app.add_flag_function(
      "--no-wisdom", [options](std::int64_t) { options->uses_wisdom = false; },
      "Neither read nor keep what planning has learned (~/.cache/penstock/wisdom)");
  app.add_flag("--explain", options->wants_explanation,
               "List the plans that were looked at: each one's time as predicted and as measured");
  add_value(
      app, "--device", "any|cuda:N|opencl:N|auto",
      "Transform on accelerators, by c2c and r2c: any of the node's, rank by rank in turn, or one; auto: where the "
      "model says that it pays for fields in host memory (the processor)",
      [options](const std::string& text) { options->device = text; });
  add_value(
      app, "--fields-on", "device|host",
      "Where the fields of --device lie between transforms: host fields cross the bus there and back (device)",
      [options](const std::string& text) {
        options->are_fields_on_host = parse_choice<bool>("--fields-on", text, {{"device", false}, {"host", true}});
      });
  add_value(app, "--machine", "FILE.toml", "Machine whose limit is computed (this one, measured in the run)",
            [options](const std::string& text) { options->machine_path = text; });
  add_value(app, "--reps", "N", "Timed repetitions of forward and backward, after one that is not counted (10)",
            [options](const std::string& text) {
              options->repetitions = static_cast<int>(parse_integer("--reps", text, 1, most));
            });
}

void declare_results(CLI::App& app, const std::shared_ptr<FftOptions>& options) {
  app.add_flag("--check", options->wants_check,
               "Check the spectrum by random projections, and what comes back point by point");
  add_value(
      app, "--filter-lowpass", "RADIUS", "Remove all wavenumbers beyond RADIUS, then transform back",
      [options](const std::string& text) { options->low_pass_radius = parse_number("--filter-lowpass", text, 0); });
  add_value(app, "--output", "FILE",
            "Write the spectrum; with --filter-lowpass, the filtered field. Formats as of --input; else .npy",
            [options](const std::string& text) { options->output_path = text; });
  app.add_flag_function(
      "--backward", [options](std::int64_t) { options->is_backward = true; },
      "Transform the spectrum of --input back to --output, in passes over the files; to a real field with --type r2c");
  add_value(app, "--engine", "auto|io_uring|threads",
            "In passes over files: what reads and writes (io_uring where the kernel has it)",
            [options](const std::string& text) { options->engine = parse_engine("--engine", text); });
  app.add_flag_function(
      "--verify-input", [options](std::int64_t) { options->verifies_input = true; },
      "In passes over files: notice a change of any byte of the input, by reading it twice more");
  add_value(app, "--spectrum", "FILE", "Write the power by wavenumber, before any filter, as a table of text",
            [options](const std::string& text) { options->spectrum_path = text; });
}

std::string size_text(const fft::Extents& size) {
  return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

void resolve_by_file(const gas::Team& team, FftOptions& options) {
  field::FileDescription file = field::inspect_file(team, options.input_path);
  const bool has_size = options.fft.size != fft::Extents{};
  if (options.is_backward && options.type == fft::Type::r2c && file.type() == fft::Type::c2c) {
    // The file has a real field's coefficients, of which an even and an odd number of points have as many.
    const std::int64_t coefficients = file.size[0];
    file.size[0] =
        has_size && options.fft.size[0] / 2 + 1 == coefficients ? options.fft.size[0] : fft::even_points(coefficients);
    file.data_type = file.data_type == npy::DataType::complex64 ? npy::DataType::float32 : npy::DataType::float64;
  }
  if (has_size && options.fft.size != file.size) {
    throw Error(fmt::format("--size {} differs from the {} points of {}: leave it out", size_text(options.fft.size),
                            size_text(file.size), options.input_path));
  }
  const bool is_complex = file.type() == fft::Type::c2c;
  if (options.type && (*options.type == fft::Type::c2c) != is_complex) {
    throw Error(fmt::format("--type {} does not fit {}, whose elements are {}: use --type {} or leave it out",
                            type_name(*options.type), options.input_path, npy::name(file.data_type),
                            type_name(file.type())));
  }
  options.fft.size = file.size;
  options.type = options.type.value_or(file.type());
  if (!options.is_single) {
    options.is_single = npy::is_single(file.data_type);
  }
}

}  // namespace

std::string_view type_name(fft::Type type) {
  return type == fft::Type::c2c ? "c2c" : type == fft::Type::r2c ? "r2c" : "r2r";
}

std::shared_ptr<FftOptions> declare_fft_options(CLI::App& app) {
  auto options = std::make_shared<FftOptions>();
  declare_problem(app, options);
  declare_transform(app, options);
  declare_results(app, options);
  return options;
}

std::unique_ptr<field::Source> resolve(const Session& session, FftOptions& options) {
  refuse_equal_paths(
      {session.options.json_path, options.output_path, options.spectrum_path, session.options.trace_path});
  const bool has_results = !options.output_path.empty() || !options.spectrum_path.empty() || options.low_pass_radius;
  if (options.fft.batch > 1 && has_results) {
    throw Error("--batch is for timing and checking; --output, --spectrum and --filter-lowpass take one field");
  }
  options.fft.machine = read_machine(session, options.machine_path);
  options.fft.threads = session.threads;
  if (options.input_path.empty()) {
    if (options.fft.size == fft::Extents{}) {
      throw Error("nothing to transform: give --size NXxNYxNZ or --input FILE");
    }
    options.type = options.type.value_or(fft::Type::c2c);
    options.is_single = options.is_single.value_or(false);
  } else {
    resolve_by_file(session.team, options);
  }
  options.fft.type = *options.type;
  constexpr std::optional<fft::RealKind> fourier;
  const std::ptrdiff_t fouriers = std::ranges::count(options.fft.kinds, fourier);
  if (options.has_kinds && fouriers > 0 && options.fft.type == fft::Type::r2r) {
    throw Error("--kinds with fourier: the spectrum of --type r2r is real; choose c2c or r2c");
  }
  const bool is_fourier = options.fft.type != fft::Type::r2r && fouriers == 3;
  const bool has_wavenumbers = is_fourier && options.fft.along == std::array{true, true, true};
  if (!has_wavenumbers && (!options.spectrum_path.empty() || options.low_pass_radius)) {
    throw Error("--spectrum and --filter-lowpass go by the wavenumbers of Fourier transforms along xyz");
  }
  std::unique_ptr<field::Source> source;
  session.team.together([&] {
    source = options.input_path.empty() ? field::make_noise(options.fft.size, options.fft.type)
                                        : field::open_file(options.input_path);
  });
  return source;
}

}  // namespace penstock::cli
