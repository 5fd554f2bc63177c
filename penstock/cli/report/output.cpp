#include "penstock/cli/report/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "penstock/base/base.hpp"

namespace penstock::cli {
namespace {

[[noreturn]] void fail(int code) {
  throw_system_error("cannot write to standard output", code);
}

}  // namespace

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) {
      // The lowest free number is the stream's. A write to standard output fails, as nothing can be written there.
      static_cast<void>(open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
}

void write_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    fail(errno);
  }
}

void flush_output() {
  if (std::fflush(stdout) != 0) {
    fail(errno);
  }
}

bool has_output_failed() {
  return std::ferror(stdout) != 0;
}

}  // namespace penstock::cli
