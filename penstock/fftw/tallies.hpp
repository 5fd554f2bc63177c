// What was served and what was passed on, for PENSTOCK_FFTW=stats.
#pragma once

#include <string>
#include <string_view>

namespace penstock::fftw {

/// Counts a plan of the function that we serve. Thread-safe, as the others.
void count_served(std::string_view function);
/// Counts a plan of the function that goes to FFTW, and why.
void count_passed_on(std::string_view function, std::string_view why);
/// Counts a transform of a plan that we serve, and its time.
void count_run(std::string_view function, double seconds, double operations);

}  // namespace penstock::fftw
