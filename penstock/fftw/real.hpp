// FFTW's own functions, behind ours of the same names.
#pragma once

namespace penstock::fftw {

/// FFTW's own function of that name: the next one behind ours, or that of an FFTW which was loaded for a part of the
/// program alone, as by an extension of Python. Where there is none it ends the program with a message: FFTW's
/// functions cannot fail.
void* find_real(const char* name);

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(find_real(name));
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

/// Calls FFTW's own function.
template <class Function, class... Arguments>
auto pass_on(Function* function, Arguments... arguments) {
  const PassingOn guard;
  return function(arguments...);
}

/// Whether a function of FFTW's own, other than one for Fortran, called us: whoever called that got it from FFTW's
/// library itself, and will give the plan to FFTW's functions.
bool is_called_by_fftw(const void* return_address) noexcept;

}  // namespace penstock::fftw

/// FFTW's own function of the name, looked up once.
#define PENSTOCK_REAL(NAME)                                                 \
  ([]() {                                                                   \
    static auto* const found = penstock::fftw::real<decltype(NAME)>(#NAME); \
    return found;                                                           \
  }())
