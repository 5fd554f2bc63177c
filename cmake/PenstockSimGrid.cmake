# SimGrid's SMPI as the MPI of this build. Not by its compiler wrapper: that makes shared objects for smpirun, which loads
# a copy for every rank, as most programs have globals; ours have none, so that ranks share one program.
find_path(SIMGRID_INCLUDE_DIR smpi/smpi.h)
find_library(SIMGRID_LIBRARY simgrid)
if(NOT SIMGRID_INCLUDE_DIR OR NOT SIMGRID_LIBRARY)
  message(FATAL_ERROR "PENSTOCK_SMPI wants SimGrid 3.32 or later (Debian: libsimgrid-dev)")
endif()
add_library(MPI::MPI_CXX INTERFACE IMPORTED)
target_include_directories(MPI::MPI_CXX SYSTEM INTERFACE "${SIMGRID_INCLUDE_DIR}" "${SIMGRID_INCLUDE_DIR}/smpi")
target_link_libraries(MPI::MPI_CXX INTERFACE "${SIMGRID_LIBRARY}")

# What only the simulator's build has is simulate/; what it cannot run is not built.
foreach(part UCX URING GEMM BUILD_COMMAND BUILD_TESTS BUILD_BENCH BUILD_EXAMPLES INSTALL)
  set(PENSTOCK_${part} OFF)
endforeach()
