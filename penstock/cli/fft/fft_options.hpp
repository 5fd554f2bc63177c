// The options of `penstock fft`, and what they mean together with the input file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/cli/core/session.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/field/field.hpp"
#include "penstock/percolate/percolate.hpp"

namespace CLI {
class App;
}

namespace penstock::cli {

/// As given; what is left out is settled by `settle`.
struct FftOptions {
  fft::Options fft;
  std::string input_path;
  std::optional<fft::Type> type;
  bool has_kinds = false;
  std::optional<bool> is_single;
  fft::Scaling scaling = fft::Scaling::none;
  int repetitions = 10;
  bool wants_check = false;
  bool uses_wisdom = true;
  bool wants_explanation = false;
  std::optional<double> low_pass_radius;
  std::string output_path;
  std::string spectrum_path;
  std::string machine_path;
  std::string device;               ///< empty: the processor; "any", "auto", or a selector of device::open
  bool are_fields_on_host = false;  ///< of a device
  bool is_backward = false;         ///< of a file: the way back
  percolate::EngineChoice engine = percolate::EngineChoice::automatic;
  bool verifies_input = false;
};

/// As --type has it.
std::string_view type_name(fft::Type type);

/// Declares all of them; they are read into the object returned.
std::shared_ptr<FftOptions> declare_fft_options(CLI::App& app);

/// Collective: settles size, type, precision, machine and threads, and returns where the field comes from. Throws Error
/// on every rank where the options or the input file do not fit one another.
std::unique_ptr<field::Source> resolve(const Session& session, FftOptions& options);

}  // namespace penstock::cli
