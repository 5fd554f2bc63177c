# penstock_test(NAME SOURCES ... USES modules ... [LINKS targets ...]): a GoogleTest program, each test a CTest test.
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
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${PENSTOCK_TEST_TIMEOUT})
endfunction()
