#include "penstock/cli/report/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace penstock::cli {

Progress::Progress(const Session& session) : is_shown_(session.is_first() && isatty(STDERR_FILENO) != 0) {}

void Progress::show(std::string_view step) const noexcept {
  if (is_shown_) {
    // Back to the start of the line, and clear it (ECMA-48, EL).
    std::fprintf(stderr, "\r\x1b[K%.*s%s", static_cast<int>(step.size()), step.data(), step.empty() ? "" : " ...");
    std::fflush(stderr);
  }
}

}  // namespace penstock::cli
