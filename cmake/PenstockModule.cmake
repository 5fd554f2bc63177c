# penstock_module(NAME SOURCES ... [USES modules below ...] [LINKS targets ...] [INTERNAL]): one target per folder NAME
# under penstock/. The face of what is INTERNAL is for other modules alone: it is not installed.
#
# Each module is an object library, so that libpenstock is made of all of them while tests can link one alone with
# exactly the floors below it.
function(penstock_module name)
  cmake_parse_arguments(ARG "INTERNAL" "" "SOURCES;USES;LINKS" ${ARGN})
  penstock_targets_of(target ${name})
  add_library(${target} OBJECT ${ARG_SOURCES})
  # A shared library exports what public headers say it does.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR};${PROJECT_BINARY_DIR}/include>")
  set_target_properties(${target} PROPERTIES PENSTOCK_USES "${ARG_USES}" PENSTOCK_IS_INTERNAL ${ARG_INTERNAL})
  penstock_targets_of(uses ${ARG_USES})
  target_link_libraries(${target} PUBLIC ${uses} ${ARG_LINKS})
  penstock_warnings(${target})
endfunction()

# penstock_targets_of(VARIABLE modules ...): their targets' names, penstock_lab_plot for lab/plot.
function(penstock_targets_of variable)
  set(targets ${ARGN})
  list(TRANSFORM targets PREPEND penstock_)
  list(TRANSFORM targets REPLACE "/" "_")
  set(${variable} ${targets} PARENT_SCOPE)
endfunction()

# The warnings that every target of ours compiles under without one.
function(penstock_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Where several sources are compiled as one, a local name may be that of another source's function, and types of a
    # source look as if they were a header's.
    target_compile_options(${target} PRIVATE -Wno-shadow -Wshadow=local -Wno-subobject-linkage)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    # GCC takes what sanitizers add for uses of what is not initialised: std::regex has some.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
  if(PENSTOCK_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Links a program with modules and everything below them. Object libraries pass on their usage but not their objects,
# so that the floors are walked here.
function(penstock_link_modules target)
  set(pending ${ARGN})
  set(seen "")
  while(pending)
    list(POP_FRONT pending module)
    if(NOT module IN_LIST seen)
      list(APPEND seen ${module})
      penstock_targets_of(objects ${module})
      get_target_property(uses ${objects} PENSTOCK_USES)
      if(uses)
        list(APPEND pending ${uses})
      endif()
      target_link_libraries(${target} PRIVATE ${objects})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    endif()
  endwhile()
endfunction()
