# penstock_world_test(NAME SOURCES ... USES modules ... [LINKS targets ...] [RANKS_SHM numbers ...]
# [RANKS_NETWORK numbers ...]): a program whose tests run on worlds (tests/worlds.hpp): ranks that are threads, each test
# a CTest test; and under mpiexec the whole program by shared memory, by each network that this build has, and by shared
# memory and the last of those networks with two ranks to a node. The numbers of ranks are those that differ most; more
# of them, and two ranks to a node with the other networks, are tried by `ctest -C thorough`.
include(PenstockMpiTest)
include(PenstockTest)

set(PENSTOCK_NETWORKS mpi rma)
if(PENSTOCK_HAS_UCX)
  list(APPEND PENSTOCK_NETWORKS ucx)
endif()

function(penstock_world_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LINKS;RANKS_SHM;RANKS_NETWORK" ${ARGN})
  set(thorough_shm "")
  if(NOT ARG_RANKS_SHM)
    set(ARG_RANKS_SHM 1 2 3 7)
    set(thorough_shm 4 8)
  endif()
  set(thorough_network "")
  if(NOT ARG_RANKS_NETWORK)
    set(ARG_RANKS_NETWORK 3)
    set(thorough_network 2 7)
  endif()
  set(tests "${PROJECT_SOURCE_DIR}/tests")
  add_executable(${name} ${ARG_SOURCES} "${tests}/worlds.cpp")
  penstock_warnings(${name})
  penstock_link_modules(${name} ${ARG_USES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} GTest::gtest)
  penstock_discover_tests(${name})
  if(NOT PENSTOCK_HAS_MPI)
    return()
  endif()
  penstock_on_ranks("${ARG_RANKS_SHM}" "${thorough_shm}" ${name} shm)
  list(GET PENSTOCK_NETWORKS -1 usual_mixed)
  foreach(network ${PENSTOCK_NETWORKS})
    penstock_on_ranks("${ARG_RANKS_NETWORK}" "${thorough_network}" ${name} ${network})
    set(mixed ${name}.5_ranks_shm+${network})
    set(configurations CONFIGURATIONS thorough)
    if(network STREQUAL usual_mixed)
      set(configurations "")
    endif()
    penstock_mpi_test(${mixed} 5 "${tests}/run_on_small_nodes" $<TARGET_FILE:${name}> --world=shm+${network} ${configurations})
    set_tests_properties(${mixed} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endfunction()

# penstock_on_ranks(NUMBERS THOROUGH NAME WORLD): the program NAME on the world of so many ranks, for each of NUMBERS, and
# where thorough tests are asked for, of THOROUGH.
function(penstock_on_ranks numbers thorough name world)
  foreach(ranks ${numbers})
    penstock_mpi_test(${name}.${ranks}_ranks_${world} ${ranks} $<TARGET_FILE:${name}> --world=${world})
  endforeach()
  foreach(ranks ${thorough})
    penstock_mpi_test(${name}.${ranks}_ranks_${world} ${ranks} $<TARGET_FILE:${name}> --world=${world}
      CONFIGURATIONS thorough)
  endforeach()
endfunction()
