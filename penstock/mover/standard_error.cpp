// A `stderr` of this library's own. AsmJit comes as a static library whose code reaches data by 32-bit distances, which
// a shared library may not use for the C library's stderr; the linker is told to take this one for it (--wrap).
#include <cstdio>

extern "C" {

extern FILE* __real_stderr;

__attribute__((visibility("hidden"))) FILE* __wrap_stderr = nullptr;

__attribute__((constructor)) static void set_standard_error() {
  __wrap_stderr = __real_stderr;
}
}
