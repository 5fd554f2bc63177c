#include "penstock/cli/core/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
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

namespace {

/// The names of the transports that are built in, and what the others would take.
std::string transports_text() {
  std::vector<std::string_view> built_in;
  for (const std::string_view name : gas::transport_names()) {
    const bool needs_mpi = name != "auto" && name != "threads";
    const bool needs_ucx = name.ends_with("ucx");
    if (!((needs_mpi && !PENSTOCK_HAS_MPI) || (needs_ucx && !PENSTOCK_HAS_UCX))) {
      built_in.push_back(name);
    }
  }
  const std::string_view missing = !PENSTOCK_HAS_MPI   ? " (the others need MPI)"
                                   : !PENSTOCK_HAS_UCX ? " (ucx needs UCX)"
                                                       : "";
  return fmt::format("{}{}", fmt::join(built_in, ", "), missing);
}

std::string ucx_text() {
  return std::string(PENSTOCK_HAS_UCX ? gas::ucx_version() : "not built in");
}

}  // namespace

std::string version_text() {
  return fmt::format(
      "penstock {}\n"
      "MPI         {}\n"
      "UCX         {}\n"
      "transports  {}\n"
      "transforms  {}\n"
      "multiplies  {}\n"
      "files by    {}\n"
      "movers      {}\n",
      PENSTOCK_VERSION, mpi_text(), ucx_text(), transports_text(), fft::local_transform_names(),
      PENSTOCK_HAS_GEMM ? "OpenBLAS" : "not built in (OpenBLAS was not found)",
      PENSTOCK_HAS_URING ? "io_uring where the kernel allows it, else threads" : "threads (liburing was not found)",
      PENSTOCK_HAS_ASMJIT ? "machine code, by AsmJit" : "kernels compiled ahead of time");
}

}  // namespace penstock::cli
