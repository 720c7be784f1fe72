# How a .cu is compiled, for each executor that there is: in this tree, and in the tree of a user's own kernels
# (kernels/plugin). TALLY_HAS_CHECKED with TALLY_CHECKED_COMPILER and TALLY_HAS_CUDA say which there are.

# Compiles these .cu files again, by clang with a hook at every memory access.
function(tally_add_checked_sources target)
  add_library(${target}_checked OBJECT ${ARGN})
  target_link_libraries(${target}_checked PRIVATE tally_base)
  set(launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
  if(NOT launcher)
    set(launcher -)
  endif()
  list(GET launcher -1 launcher)  # the program alone: nothing here is compiled with precompiled headers
  set(checker ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/device/checker)
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
  set(host_sources ${ARGN})
  if(COMMAND tally_units)
    tally_units(${target}_units 24000 ${ARGN})
    set(host_sources ${${target}_units})
  endif()
  set_source_files_properties(${host_sources} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
  target_sources(${target} PRIVATE ${host_sources})
  if(TALLY_HAS_CHECKED AND ARGN)
    tally_add_checked_sources(${target} ${host_sources})
  endif()
  if(TALLY_HAS_CUDA AND ARGN)
    # A folder of its own, because a source's language is a property of the folder.
    set(kernel_target ${target}_cuda)
    set(kernel_sources ${host_sources})
    add_subdirectory(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/device/cuda ${CMAKE_CURRENT_BINARY_DIR}/${kernel_target})
    target_sources(${target} INTERFACE $<TARGET_OBJECTS:${kernel_target}>)
  endif()
endfunction()
