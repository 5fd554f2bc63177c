// Preloaded into the command: one call of the system's, or one allocation, fails as it is told.
//
// FAULT_CALL names the call (the names below), FAULT_NUMBER which one of them fails, from 1 on (0: none), FAULT_ERROR
// the errno value that it leaves, or 0: it moves half of the bytes (pread, pwrite). FAULT_LASTS makes those behind it
// fail as well. FAULT_COUNTS is a file that takes, at the end of the program, how many calls of each name there were.
//
// Counted are calls on files below the working directory and, of mmap, those of the program itself. Allocations are
// those by operator new from the beginning of main on: FFTW, MPI and OpenBLAS take theirs by malloc, and what they do
// without memory is theirs.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace {

enum Call {
  call_open,
  call_pread,
  call_pwrite,
  call_fsync,
  call_ftruncate,
  call_fallocate,
  call_rename,
  call_unlink,
  call_flock,
  call_mkdir,
  call_mmap,
  call_new,
  calls
};
constexpr std::array<std::string_view, calls> names{"open",   "pread",  "pwrite", "fsync", "ftruncate", "fallocate",
                                                    "rename", "unlink", "flock",  "mkdir", "mmap",      "new"};

constexpr int max_files = 1024;

std::array<std::atomic<long>, calls> counts{};
std::array<std::atomic<bool>, max_files> is_ours{};  // by descriptor: of a file below the working directory
std::atomic<bool> has_begun = false;                 // main
int failing_call = -1;
long failing_number = 0;
int failing_error = 0;
bool fails_on = false;
std::array<char, 4096> folder{};
std::uintptr_t program_begin = 0;
std::uintptr_t program_end = 0;

long number_from(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

/// The first object that the loader tells of is the program.
int take_program(dl_phdr_info* info, std::size_t, void*) {
  program_begin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type == PT_LOAD) {
      program_begin = std::min<std::uintptr_t>(program_begin, info->dlpi_addr + part.p_vaddr);
      program_end = std::max<std::uintptr_t>(program_end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
    }
  }
  return 1;
}

void begin() {
  if (const char* name = std::getenv("FAULT_CALL"); name != nullptr) {
    for (int call = 0; call < calls; ++call) {
      failing_call = names[static_cast<std::size_t>(call)] == name ? call : failing_call;
    }
  }
  failing_number = number_from("FAULT_NUMBER");
  failing_error = static_cast<int>(number_from("FAULT_ERROR"));
  fails_on = std::getenv("FAULT_LASTS") != nullptr;
  if (getcwd(folder.data(), folder.size()) == nullptr) {
    std::abort();
  }
  dl_iterate_phdr(take_program, nullptr);
  has_begun = true;
}

/// Counts a call; whether it is the one to fail.
bool fails(Call call) {
  if (!has_begun) {
    return false;
  }
  const long number = ++counts[static_cast<std::size_t>(call)];
  return call == failing_call && failing_number > 0 &&
         (number == failing_number || (fails_on && number > failing_number));
}

/// The same, with the error left.
bool refuses(Call call) {
  const bool refused = fails(call);
  if (refused) {
    errno = failing_error;
  }
  return refused;
}

bool is_below(const char* path) {
  const std::string_view text(path);
  return !text.empty() && (text.front() != '/' || text.starts_with(folder.data()));
}

bool is_ours_now(int file) {
  return file >= 0 && file < max_files && is_ours[static_cast<std::size_t>(file)];
}

int remember(int file, bool ours) {
  if (file >= 0 && file < max_files) {
    is_ours[static_cast<std::size_t>(file)] = ours;
  }
  return file;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (fails(call_new)) {
    return nullptr;
  }
  return alignment == 0 ? std::malloc(bytes == 0 ? 1 : bytes)
                        : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment = 0) {
  void* memory = allocate(bytes, alignment);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

using Main = int(int, char**, char**);
Main* program_main = nullptr;

int main_counted(int argc, char** argv, char** environment) {
  begin();
  return program_main(argc, argv, environment);
}

[[gnu::destructor]] void tell() {
  has_begun = false;
  const char* path = std::getenv("FAULT_COUNTS");
  if (path == nullptr) {
    return;
  }
  if (std::FILE* file = std::fopen(path, "w"); file != nullptr) {
    for (std::size_t call = 0; call < calls; ++call) {
      std::fprintf(file, "%s %ld\n", names[call].data(), counts[call].load());
    }
    std::fclose(file);
  }
}

}  // namespace

extern "C" {

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  program_main = main;
  return next<int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*)>("__libc_start_main")(
      main_counted, argc, argv, init, fini, rtld_fini, stack_end);
}

int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const bool ours = is_below(path);
  if (ours && refuses(call_open)) {
    return -1;
  }
  static const auto real = next<int(const char*, int, ...)>("open");
  return remember(real(path, flags, mode), ours);
}

int close(int file) {
  remember(file, false);
  static const auto real = next<int(int)>("close");
  return real(file);
}

ssize_t pread(int file, void* bytes, size_t count, off_t offset) {
  static const auto real = next<ssize_t(int, void*, size_t, off_t)>("pread");
  if (is_ours_now(file) && fails(call_pread)) {
    errno = failing_error;
    return failing_error != 0 ? -1 : real(file, bytes, (count + 1) / 2, offset);
  }
  return real(file, bytes, count, offset);
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  static const auto real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  if (is_ours_now(file) && fails(call_pwrite)) {
    errno = failing_error;
    return failing_error != 0 ? -1 : real(file, bytes, (count + 1) / 2, offset);
  }
  return real(file, bytes, count, offset);
}

int fsync(int file) {
  static const auto real = next<int(int)>("fsync");
  return is_ours_now(file) && refuses(call_fsync) ? -1 : real(file);
}

int ftruncate(int file, off_t bytes) noexcept {
  static const auto real = next<int(int, off_t)>("ftruncate");
  return is_ours_now(file) && refuses(call_ftruncate) ? -1 : real(file, bytes);
}

int fallocate(int file, int mode, off_t offset, off_t bytes) {
  static const auto real = next<int(int, int, off_t, off_t)>("fallocate");
  return is_ours_now(file) && refuses(call_fallocate) ? -1 : real(file, mode, offset, bytes);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next<int(const char*, const char*)>("rename");
  return is_below(to) && refuses(call_rename) ? -1 : real(from, to);
}

int unlink(const char* path) noexcept {
  static const auto real = next<int(const char*)>("unlink");
  return is_below(path) && refuses(call_unlink) ? -1 : real(path);
}

int flock(int file, int operation) noexcept {
  static const auto real = next<int(int, int)>("flock");
  return is_ours_now(file) && refuses(call_flock) ? -1 : real(file, operation);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = next<int(const char*, mode_t)>("mkdir");
  return is_below(path) && refuses(call_mkdir) ? -1 : real(path, mode);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  static const auto real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const bool ours = caller >= program_begin && caller < program_end;
  return ours && refuses(call_mmap) ? MAP_FAILED : real(address, bytes, protection, flags, file, offset);
}

}  // extern "C"

void* operator new(std::size_t bytes) {
  return allocate_or_throw(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate_or_throw(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, 0);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, 0);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
