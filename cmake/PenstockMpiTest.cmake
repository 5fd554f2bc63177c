include(PenstockTest)

# The environment of programs that tests run under mpiexec, or that run mpiexec themselves.
#
# Open MPI refuses more ranks than cores, and root, unless told; MPICH knows neither and ignores these variables.
# Ranks of a test are not bound to cores and yield while they wait, since CTest runs several tests at once. Where a rank
# ends with an error, Open MPI's launcher would wait for a second or two before it ends as well; what ranks have to say
# they say before that. Leaks are for the tests without MPI to find: the MPI libraries leave many, in plugins unloaded
# before the report is made. MPICH asks hwloc for the node's topology, and hwloc asks OpenCL where that is installed: for
# PoCL, a test's package, each rank would load a compiler of 70 MB.
set(PENSTOCK_MPI_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_odls_base_sigkill_timeout=0
    HWLOC_COMPONENTS=-opencl OMPI_MCA_pml=ob1 "OMPI_MCA_btl=^openib,ofi,usnic"
    ASAN_OPTIONS=detect_leaks=0)

# What LD_PRELOAD names before a library of ours that is built with AddressSanitizer: the sanitizer's run-time library,
# and a colon.
set(PENSTOCK_PRELOADED_BEFORE "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so
    OUTPUT_VARIABLE PENSTOCK_PRELOADED_BEFORE OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(APPEND PENSTOCK_PRELOADED_BEFORE ":")
endif()

# penstock_mpi_test(NAME RANKS program arguments ... [CONFIGURATIONS names ...]): a CTest test that runs a program under
# mpiexec, oversubscribed where the machine has fewer cores than ranks. Does nothing in a build without MPI.
function(penstock_mpi_test name ranks)
  if(NOT PENSTOCK_HAS_MPI)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "CONFIGURATIONS" ${ARGN})
  set(configurations "")
  if(ARG_CONFIGURATIONS)
    set(configurations CONFIGURATIONS ${ARG_CONFIGURATIONS})
  endif()
  add_test(NAME ${name} ${configurations}
           COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${ARG_UNPARSED_ARGUMENTS})
  set(slots 4)
  if(ranks EQUAL 1)
    set(slots 2)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${PENSTOCK_TEST_TIMEOUT} PROCESSORS ${slots}
                       ENVIRONMENT "${PENSTOCK_MPI_ENVIRONMENT}")
endfunction()
