#include "penstock/base/error.hpp"

#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace penstock {

void throw_system_error(const std::string& what, int code) {
  throw Error(what + ": " + std::generic_category().message(code));
}

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "penstock: internal error: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace penstock
