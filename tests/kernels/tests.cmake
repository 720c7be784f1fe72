# CUDA's 16-bit types, for comparison, also where no kernel is compiled by nvcc.
find_path(TALLY_CUDA_HALF_INCLUDE cuda_fp16.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} ${PROJECT_SOURCE_DIR}/build/cuda/include PATHS /usr/local/cuda/include)
if(TALLY_CUDA_HALF_INCLUDE)
  set_source_files_properties(kernels/device/half_bits_test.cpp PROPERTIES
    COMPILE_OPTIONS "-isystem;${TALLY_CUDA_HALF_INCLUDE}")
endif()

# Every float through every function of detmath.hpp: minutes. ctest -C nightly -L nightly
add_executable(detmath_full_sweep kernels/device/detmath_full_sweep.cpp)
target_link_libraries(detmath_full_sweep PRIVATE tally_base ${MPFR_LIBRARY})
foreach(function exp log tanh erf rsqrt)
  add_test(NAME detmath_full_sweep.${function} COMMAND detmath_full_sweep ${function} CONFIGURATIONS nightly)
  set_tests_properties(detmath_full_sweep.${function} PROPERTIES LABELS nightly TIMEOUT 3600)
endforeach()
