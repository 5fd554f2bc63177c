# What the libraries are made of and called, and what is installed beside the command: the libraries, their public
# headers, the machines, and the files by which CMake and pkg-config find them. docs/installing.md lists it for users.
option(PENSTOCK_INSTALL "Install Penstock with the project" ${PROJECT_IS_TOP_LEVEL})

# Builds for several MPIs install side by side where each has a flavour of its own.
set(PENSTOCK_FLAVOUR "" CACHE STRING "A word, such as openmpi, in the names of libraries and of folders below the prefix")
set(PENSTOCK_SUFFIX "")
set(PENSTOCK_INCLUDE_FOLDER "${CMAKE_INSTALL_INCLUDEDIR}")
if(PENSTOCK_FLAVOUR)
  set(PENSTOCK_SUFFIX "-${PENSTOCK_FLAVOUR}")
  string(APPEND PENSTOCK_INCLUDE_FOLDER "/penstock${PENSTOCK_SUFFIX}")
endif()
set(PENSTOCK_PRELOAD_FOLDER "${CMAKE_INSTALL_LIBDIR}/penstock")

find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_Interpreter_FOUND)
  set(python "python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}")
  set(PENSTOCK_PYTHON_FOLDER "${CMAKE_INSTALL_LIBDIR}/${python}/site-packages"
      CACHE STRING "Where the package for Python is installed, below the prefix")
endif()

# penstock_name_library(TARGET NAME): libNAME with the flavour. Its SONAME ends when a program has to be compiled anew:
# with each minor version, as the CMake package says (SameMinorVersion).
function(penstock_name_library target name)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME "${name}${PENSTOCK_SUFFIX}" VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

# penstock_export(TARGET FOLDER): programs see what FOLDER/exports.map names, and nothing else of the shared library.
function(penstock_export target folder)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${folder}/exports.map")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${folder}/exports.map")
  penstock_share_asmjit(${target})
endfunction()

# penstock_preload_library(TARGET NAME MPI): libNAME-MPI.so, for LD_PRELOAD under programs of that MPI. It is no library
# that the linker looks for: it has a folder of its own, and no version.
function(penstock_preload_library target name mpi)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME "${name}-${mpi}"
                        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  penstock_warnings(${target})
  penstock_export(${target} "${CMAKE_CURRENT_SOURCE_DIR}")
  if(PENSTOCK_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION "${PENSTOCK_PRELOAD_FOLDER}")
  endif()
endfunction()

# penstock_public_headers(VARIABLE MODULE): the headers that users of a module may meet, relative to the source folder:
# its face and what that includes of the module, and of base every header.
function(penstock_public_headers variable module)
  if(module STREQUAL base)
    file(GLOB found RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/penstock/base/*.hpp")
  else()
    set(found "")
    get_filename_component(face ${module} NAME)
    set(pending penstock/${module}/${face}.hpp)
    while(pending)
      list(POP_FRONT pending header)
      if(NOT header IN_LIST found)
        list(APPEND found ${header})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${header}")
        file(STRINGS "${PROJECT_SOURCE_DIR}/${header}" includes REGEX "^#include \"penstock/${module}/")
        list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
        list(APPEND pending ${includes})
      endif()
    endwhile()
  endif()
  foreach(header ${found})
    file(STRINGS "${PROJECT_SOURCE_DIR}/${header}" lines REGEX "^(namespace penstock|#pragma GCC visibility )")
    if(lines AND NOT lines MATCHES "push\\(default\\);namespace.*;#pragma GCC visibility pop$")
      message(FATAL_ERROR "${header} is a public header: what it declares stands between #pragma GCC visibility "
                          "push(default) and pop, so that libpenstock exports it")
    endif()
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# penstock_library(TARGET STATIC|SHARED modules ...): libpenstock, made of these modules' objects, links and public
# headers.
#
# MPI is a part of our interface, as programs hand us their communicators; all else is our own affair.
function(penstock_library target kind)
  add_library(${target} ${kind})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR};${PROJECT_BINARY_DIR}/include>"
    "$<INSTALL_INTERFACE:${PENSTOCK_INCLUDE_FOLDER}>")
  penstock_name_library(${target} penstock)
  foreach(module ${ARGN})
    penstock_targets_of(objects ${module})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    get_target_property(links ${objects} LINK_LIBRARIES)
    foreach(link ${links})
      if(link STREQUAL MPI::MPI_CXX)
        target_link_libraries(${target} PUBLIC MPI::MPI_CXX)
      elseif(NOT link MATCHES "^penstock_")
        target_link_libraries(${target} PRIVATE ${link})
      endif()
    endforeach()
    get_target_property(is_internal ${objects} PENSTOCK_IS_INTERNAL)
    if(NOT is_internal)
      penstock_public_headers(headers ${module})
      set_property(TARGET ${target} APPEND PROPERTY PENSTOCK_PUBLIC_HEADERS ${headers})
    endif()
  endforeach()
  if(kind STREQUAL SHARED)
    penstock_export(${target} "${PROJECT_SOURCE_DIR}/penstock")
  endif()
endfunction()

# What a pkg-config file has to say of the library's links: the packages it requires, and the flags of what has none.
function(penstock_describe_links requires_variable flags_variable)
  set(requires "")
  set(flags "")
  get_target_property(links penstock LINK_LIBRARIES)
  foreach(link ${links})
    if(link STREQUAL fmt::fmt)
      list(APPEND requires fmt)
    elseif(link STREQUAL tomlplusplus::tomlplusplus)
      list(APPEND requires tomlplusplus)
    elseif(link STREQUAL PkgConfig::FFTW3)
      list(APPEND requires fftw3)
    elseif(link STREQUAL PkgConfig::FFTW3F)
      list(APPEND requires fftw3f)
    elseif(link STREQUAL PkgConfig::URING)
      list(APPEND requires liburing)
    elseif(link STREQUAL PkgConfig::ZLIB)
      list(APPEND requires zlib)
    elseif(link STREQUAL PkgConfig::OPENBLAS)
      list(APPEND requires openblas)
    elseif(link STREQUAL asmjit::asmjit)
      list(APPEND flags -lasmjit -lrt)
    elseif(link STREQUAL Threads::Threads)
      list(APPEND flags -pthread)
    elseif(link STREQUAL "${CMAKE_DL_LIBS}")
      list(APPEND flags -l${CMAKE_DL_LIBS})
    elseif(IS_ABSOLUTE "${link}")
      list(APPEND flags "${link}")
    elseif(NOT link STREQUAL MPI::MPI_CXX)
      message(FATAL_ERROR "penstock_describe_links does not know how pkg-config finds ${link}; tell it there, and in "
                          "PenstockConfig.cmake.in how CMake does")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES requires)
  list(REMOVE_DUPLICATES flags)
  set(${requires_variable} ${requires} PARENT_SCOPE)
  set(${flags_variable} ${flags} PARENT_SCOPE)
endfunction()

# penstock_install_pkg_config(NAME): NAME.pc of libNAME, with the flavour; PC_REQUIRES, PC_CFLAGS and PC_LIBS are what
# users need besides.
function(penstock_install_pkg_config name)
  set(PC_NAME "${name}${PENSTOCK_SUFFIX}")
  set(PC_PYTHON_PATH "${PENSTOCK_PYTHON_FOLDER}")
  if(NOT IS_ABSOLUTE "${PC_PYTHON_PATH}")
    string(PREPEND PC_PYTHON_PATH "\${prefix}/")
  endif()
  file(RELATIVE_PATH PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/penstock.pc.in" "${PROJECT_BINARY_DIR}/${PC_NAME}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${PC_NAME}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

function(penstock_install_pkg_configs)
  penstock_install_pkg_config(penstock-c)
  if(NOT BUILD_SHARED_LIBS)
    # A static library leaves the linking of what it uses to the program, also to one that does not ask for --static.
    penstock_describe_links(requires flags)
    list(JOIN requires ", " PC_REQUIRES)
    list(JOIN flags " " PC_LIBS)
  endif()
  if(PENSTOCK_HAS_MPI)
    # Spelled out, as each MPI has packages of other names; these are the flags of the one that we were built with.
    list(TRANSFORM MPI_CXX_COMPILER_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE mpi_cflags)
    list(TRANSFORM MPI_CXX_COMPILE_DEFINITIONS PREPEND -D OUTPUT_VARIABLE mpi_definitions)
    list(JOIN mpi_cflags " " PC_CFLAGS)
    list(JOIN mpi_definitions " " mpi_definitions)
    string(APPEND PC_CFLAGS " ${mpi_definitions}")
    list(JOIN MPI_CXX_LIBRARIES " " mpi_libs)
    string(APPEND PC_LIBS " ${mpi_libs}")
  endif()
  penstock_install_pkg_config(penstock)
endfunction()

function(penstock_install)
  set(package "Penstock${PENSTOCK_SUFFIX}")
  set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/${package}")
  set_target_properties(penstock_c PROPERTIES EXPORT_NAME c)
  install(TARGETS penstock EXPORT PenstockTargets)
  install(TARGETS penstock_c EXPORT PenstockCTargets)
  foreach(targets PenstockTargets PenstockCTargets)
    install(EXPORT ${targets} NAMESPACE Penstock:: DESTINATION "${package_folder}")
  endforeach()

  get_target_property(headers penstock PENSTOCK_PUBLIC_HEADERS)
  foreach(header ${headers})
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${PENSTOCK_INCLUDE_FOLDER}/${folder}")
  endforeach()
  install(FILES "${PROJECT_BINARY_DIR}/include/penstock/base/config.hpp"
          DESTINATION "${PENSTOCK_INCLUDE_FOLDER}/penstock/base")

  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/PenstockConfig.cmake.in"
                                "${PROJECT_BINARY_DIR}/${package}Config.cmake" INSTALL_DESTINATION "${package_folder}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/${package}ConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/${package}Config.cmake" "${PROJECT_BINARY_DIR}/${package}ConfigVersion.cmake"
          DESTINATION "${package_folder}")

  penstock_install_pkg_configs()

  # Modules of Fortran belong to a compiler: users compile the source with theirs.
  install(FILES "${PROJECT_SOURCE_DIR}/fortran/penstock.f90" DESTINATION "${PENSTOCK_INCLUDE_FOLDER}/penstock")
  if(PENSTOCK_PYTHON_FOLDER)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/penstock" DESTINATION "${PENSTOCK_PYTHON_FOLDER}"
            FILES_MATCHING PATTERN "*.py")
  endif()

  install(DIRECTORY "${PROJECT_SOURCE_DIR}/machines" "${PROJECT_SOURCE_DIR}/schemas"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/penstock")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endfunction()
