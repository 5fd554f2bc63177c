// FFTW's own functions, behind ours of the same names.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace penstock::fftw {

/// FFTW's own function of that name. Where the program has none it ends with a message: FFTW's functions cannot fail.
template <class Function>
Function* real(const char* name) {
  auto* const function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (function == nullptr) {
    std::fprintf(stderr, "penstock: the program calls %s, and no FFTW that has it is linked or loaded\n", name);
    std::abort();
  }
  return function;
}

/// As long as it lives, what this thread calls of FFTW goes to FFTW: its own functions call one another by name, and
/// would meet ours.
class PassingOn {
 public:
  PassingOn() noexcept { ++depth; }
  ~PassingOn() { --depth; }
  PassingOn(const PassingOn&) = delete;
  PassingOn& operator=(const PassingOn&) = delete;

  static bool is_under_way() noexcept { return depth > 0; }

 private:
  static thread_local int depth;
};

/// Calls FFTW's own function of that name.
template <class Function, class... Arguments>
auto pass_on(const char* name, Arguments... arguments) {
  const PassingOn guard;
  return real<Function>(name)(arguments...);
}

}  // namespace penstock::fftw
