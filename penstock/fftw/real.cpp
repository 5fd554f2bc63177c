#include "penstock/fftw/real.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace penstock::fftw {

thread_local int PassingOn::depth = 0;

void* find_real(const char* name) {
  if (void* const next = dlsym(RTLD_NEXT, name)) {
    return next;
  }
  constexpr std::array libraries{"libfftw3.so.3",         "libfftw3f.so.3",        "libfftw3_mpi.so.3",
                                 "libfftw3f_mpi.so.3",    "libfftw3_omp.so.3",     "libfftw3f_omp.so.3",
                                 "libfftw3_threads.so.3", "libfftw3f_threads.so.3"};
  for (const char* const library : libraries) {
    if (void* const loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
      if (void* const found = dlsym(loaded, name)) {
        return found;
      }
    }
  }
  std::fprintf(stderr, "penstock: the program calls %s, and no FFTW that has it is linked or loaded\n", name);
  std::abort();
}

bool is_called_by_fftw(const void* return_address) noexcept {
  Dl_info caller{};
  if (dladdr(return_address, &caller) == 0 || caller.dli_fname == nullptr || caller.dli_sname == nullptr) {
    return false;
  }
  const std::string_view name = caller.dli_sname;
  const bool is_for_fortran = name.starts_with("dfftw_") || name.starts_with("sfftw_") || name.ends_with("_f03");
  return std::string_view(caller.dli_fname).find("libfftw3") != std::string_view::npos && !is_for_fortran;
}

}  // namespace penstock::fftw
