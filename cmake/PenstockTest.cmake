# penstock_test(NAME SOURCES ... USES modules ... [LINKS targets ...]): a GoogleTest program, each test a CTest test.
#
# What a test takes of the machine is told to CTest by PROCESSORS, two to a core, as `make` starts `ctest --parallel`
# with twice the number of cores: 1 (CTest's default) takes a script that waits most of its time, 2 what keeps a core
# busy, 4 a program under mpiexec, whose ranks are slow beside others.
include(GoogleTest)

# How long a test may take, in seconds: the longest took 334 with ThreadSanitizer.
set(PENSTOCK_TEST_TIMEOUT 300)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(PENSTOCK_TEST_TIMEOUT 1200)
endif()

function(penstock_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  penstock_warnings(${name})
  penstock_link_modules(${name} ${ARG_USES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} GTest::gtest_main)
  penstock_discover_tests(${name})
endfunction()

# penstock_discover_tests(NAME): each test of the program NAME is a CTest test, labelled with its folder's name, which is
# its module's (scripts/quick).
function(penstock_discover_tests name)
  get_filename_component(module "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${PENSTOCK_TEST_TIMEOUT} PROCESSORS 2 LABELS ${module})
endfunction()

# penstock_sanitize_as_cxx(TARGET): a program in another language, with the sanitizers that C++ is built with: their
# run-time libraries must come first.
function(penstock_sanitize_as_cxx target)
  string(REGEX MATCHALL "-fsanitize=[^ ]+" flags "${CMAKE_CXX_FLAGS}")
  target_compile_options(${target} PRIVATE ${flags})
  target_link_options(${target} PRIVATE ${flags})
endfunction()
