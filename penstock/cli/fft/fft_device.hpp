// `penstock fft --device`: transforms on an accelerator, of fields that lie there or come through the bus.
#pragma once

#include <span>
#include <string>

#include "penstock/cli/core/session.hpp"
#include "penstock/cli/fft/fft_options.hpp"
#include "penstock/field/field.hpp"

namespace penstock::cli {

/// Throws Error for options, of those that were `given`, that only processors have.
void check_device_options(const FftOptions& options, std::span<const std::string> given);

/// Collective: transforms on a device for each rank, and reports. `given` are the options that were, as "--reps".
/// Throws Error on every rank where there is no such device, where it cannot do what is asked, and for options that
/// only processors have.
void run_fft_device(Session& session, const FftOptions& options, const field::Source& source,
                    std::span<const std::string> given);

}  // namespace penstock::cli
