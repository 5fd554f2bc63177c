#include "penstock/cli/version.hpp"

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "penstock/base/base.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::cli {

std::string mpi_text() {
#if PENSTOCK_HAS_MPI
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);  // allowed before MPI_Init
  std::string_view line(text.data());
  line = line.substr(0, line.find_first_of("\n,"));
  constexpr std::string_view mpich = "MPICH Version:";  // then white space
  if (line.starts_with(mpich)) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t", mpich.size()), line.size()));
    return "MPICH " + std::string(line);
  }
  return std::string(line);
#else
  return "not built in";
#endif
}

std::string version_text() {
  return fmt::format(
      "penstock {}\n"
      "MPI         {}\n"
      "transports  {}\n"
      "transforms  {}\n"
      "movers      {}\n",
      PENSTOCK_VERSION, mpi_text(), PENSTOCK_HAS_MPI ? "threads, shm, mpi" : "threads (shm and mpi need MPI)",
      fftw_version, PENSTOCK_HAS_ASMJIT ? "machine code, by AsmJit" : "kernels compiled ahead of time");
}

}  // namespace penstock::cli
