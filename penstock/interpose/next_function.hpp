// Functions of MPI's whose names this library takes, both of them: its own calls go to the next library of that name.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace penstock::interpose {

/// The function of this name in the libraries after this one; ends the program where there is none.
template <class Function>
Function* next_function(const char* name) noexcept {
  auto* const found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (found == nullptr) {
    std::fprintf(stderr, "penstock: libpenstock-mpi finds no %s after itself: load it before MPI\n", name);
    std::abort();
  }
  return found;
}

}  // namespace penstock::interpose

// What a call of NAME means within this library, where the name is its own as well.
#define PENSTOCK_NEXT(NAME)                                                               \
  (*[]() noexcept {                                                                       \
    static auto* const found = penstock::interpose::next_function<decltype(NAME)>(#NAME); \
    return found;                                                                         \
  }())
