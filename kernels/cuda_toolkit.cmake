# Finds a CUDA toolkit for TALLY_CUDA = AUTO or ON, enables the language, and says how kernels are compiled.
# Sets TALLY_HAS_CUDA. Included from the top, so that every folder sees the language.
set(TALLY_HAS_CUDA OFF)
if(TALLY_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: off")
else()
  if(NOT TALLY_CUDA MATCHES "^(AUTO|ON)$")
    message(FATAL_ERROR "TALLY_CUDA is '${TALLY_CUDA}', expected AUTO, ON or OFF")
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    # A toolkit asked for by name, the one unpacked under build/cuda, the one on the path, the usual prefix.
    find_program(TALLY_NVCC nvcc NO_CACHE NO_DEFAULT_PATH
      PATHS "${CUDAToolkit_ROOT}/bin" "$ENV{CUDAToolkit_ROOT}/bin" "${PROJECT_SOURCE_DIR}/build/cuda/bin")
    find_program(TALLY_NVCC nvcc NO_CACHE PATHS /usr/local/cuda/bin /opt/cuda/bin)
    if(TALLY_NVCC)
      set(CMAKE_CUDA_COMPILER "${TALLY_NVCC}" CACHE FILEPATH "CUDA compiler")
    endif()
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80;90;100)
  endif()
  include(CheckLanguage)
  if(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX} OR TALLY_CUDA STREQUAL "ON")
    check_language(CUDA)
  endif()
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # CMake 3.25 knows no C++20 for nvcc 13 and would silently compile C++17.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    # CMake 3.25's module stops where a toolkit has no nvToolsExt, as CUDA 13 has none, but only for projects that
    # ask for 3.25 or newer: it is told an older one.
    set(tally_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
    set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
    find_package(CUDAToolkit REQUIRED)
    set(CMAKE_MINIMUM_REQUIRED_VERSION ${tally_minimum})
    set(TALLY_HAS_CUDA ON)
    message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(TALLY_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TALLY_CUDA is ON, but no working nvcc was found; name one by CUDAToolkit_ROOT")
  else()
    message(STATUS "CUDA: no working nvcc found, building for the host executor alone")
  endif()
endif()

# The checked side needs clang's hooks on memory accesses, and cannot be had together with other sanitizers.
set(TALLY_HAS_CHECKED OFF)
find_program(TALLY_CHECKED_COMPILER NAMES clang++-16 DOC "clang++ for the checked side; without one there is none")
if(TALLY_CHECKED_COMPILER AND NOT TALLY_SANITIZE)
  set(TALLY_HAS_CHECKED ON)
  message(STATUS "Checked executor: ${TALLY_CHECKED_COMPILER}")
else()
  message(STATUS "Checked executor: off (clang++-16 not found, or built with sanitizers)")
endif()

# Compiles these .cu files again, by clang with a hook at every memory access.
function(tally_add_checked_sources target)
  add_library(${target}_checked OBJECT ${ARGN})
  target_link_libraries(${target}_checked PRIVATE tally_base)
  set(launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
  if(NOT launcher)
    set(launcher -)
  endif()
  set(checker ${PROJECT_SOURCE_DIR}/kernels/device/checker)
  set_target_properties(${target}_checked PROPERTIES
    CXX_COMPILER_LAUNCHER "${checker}/with_clang.sh;${TALLY_CHECKED_COMPILER};${launcher}")
  target_compile_definitions(${target}_checked PRIVATE TALLY_CHECKED)
  target_compile_options(${target}_checked PRIVATE -w -O2 -gline-tables-only -fdeclspec
    -fdebug-prefix-map=${PROJECT_SOURCE_DIR}/= -fdebug-compilation-dir=. -fsanitize=thread -fsanitize-ignorelist=${checker}/unobserved.txt
    "SHELL:-mllvm -tsan-instrument-func-entry-exit=0" "SHELL:-mllvm -tsan-instrument-atomics=0"
    "SHELL:-mllvm -tsan-instrument-read-before-write=1")
  target_sources(${target} INTERFACE $<TARGET_OBJECTS:${target}_checked>)
endfunction()

# Compiles every .cu up to three times: into `target` as C++ for the host executor; where there is a clang++-16, for
# the checked executor; where there is a toolkit, by nvcc. Whoever
# links `target` gets all. Call it in the folder where the object library `target` was made.
function(tally_add_kernel_sources target)
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
  target_sources(${target} PRIVATE ${ARGN})
  if(TALLY_HAS_CHECKED AND ARGN)
    tally_add_checked_sources(${target} ${ARGN})
  endif()
  if(TALLY_HAS_CUDA AND ARGN)
    # A folder of its own, because a source's language is a property of the folder.
    set(kernel_target ${target}_cuda)
    set(kernel_sources ${ARGN})
    add_subdirectory(${PROJECT_SOURCE_DIR}/kernels/device/cuda ${CMAKE_CURRENT_BINARY_DIR}/${kernel_target})
    target_sources(${target} INTERFACE $<TARGET_OBJECTS:${kernel_target}>)
  endif()
endfunction()
