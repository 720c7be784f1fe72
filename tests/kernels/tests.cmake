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
foreach(function exp exp2 log tanh erf rsqrt)
  add_test(NAME detmath_full_sweep.${function} COMMAND detmath_full_sweep ${function} CONFIGURATIONS nightly)
  set_tests_properties(detmath_full_sweep.${function} PROPERTIES LABELS nightly TIMEOUT 3600)
endforeach()

# What nvcc made of the kernels, read from their objects: no GPU needed. What is made for one GPU alone holds no PTX.
set(ptx ${CMAKE_CURRENT_LIST_DIR}/ptx)
if(TALLY_HAS_CUDA)
  set(gate python3 -B ${ptx}/gate.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/kernels/units
    $<TARGET_OBJECTS:tally_kernels_cuda>)
  if(CMAKE_CUDA_ARCHITECTURES STREQUAL "native")
    set(gate sh -c "echo 'not run: compiled for the GPU that is here alone (CUDAARCHS names others)' && exit 77")
  endif()
  add_test(NAME kernels.ptx_gate COMMAND ${gate} COMMAND_EXPAND_LISTS)
  set_tests_properties(kernels.ptx_gate PROPERTIES LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
add_test(NAME kernels.ptx_gate_refuses COMMAND python3 -B ${ptx}/gate_test.py ${CMAKE_CUDA_COMPILER})
set_tests_properties(kernels.ptx_gate_refuses PROPERTIES LABELS unit TIMEOUT 300)

# Small kernels, right and wrong, for the checker and its table of faults. The many schedules: ctest -C nightly -L nightly
file(GLOB fault_kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/checker/*.cu)
add_library(device_faults OBJECT kernels/checker/device_faults.cpp)
tally_add_kernel_sources(device_faults ${fault_kernels})
target_link_libraries(device_faults PUBLIC tally_base)
target_link_libraries(kernels_tests PRIVATE device_faults)
add_executable(device_fault_table kernels/checker/device_fault_table.cpp)
target_link_libraries(device_fault_table PRIVATE tally_base tally_oracle tally_trace tally_kernels device_faults)
add_test(NAME device_fault_table COMMAND device_fault_table 10)
set_tests_properties(device_fault_table PROPERTIES LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77)
add_test(NAME device_fault_table.many_schedules COMMAND device_fault_table 10000 CONFIGURATIONS nightly)
set_tests_properties(device_fault_table.many_schedules PROPERTIES LABELS nightly TIMEOUT 3600 SKIP_RETURN_CODE 77)

# The library's products on a GPU, in every choice that a case may make.
add_executable(gemm_on_device kernels/device/gemm_on_device.cpp)
target_link_libraries(gemm_on_device PRIVATE tally::kernels tally::trace tally::oracle)
add_test(NAME gpu.gemm_on_device COMMAND gemm_on_device)
set_tests_properties(gpu.gemm_on_device PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL ON TIMEOUT 600)

# The laws' kernels on the device under NVIDIA's own checker, beside which the checked executor's findings can be held.
set(sanitizer ${CMAKE_CURRENT_LIST_DIR}/compute_sanitizer)
foreach(tool memcheck racecheck synccheck)
  add_test(NAME gpu.compute_sanitizer.${tool}
    COMMAND ${sanitizer}/run.sh ${tool} $<TARGET_FILE:tally-lab> ${CMAKE_CURRENT_BINARY_DIR}/rows/gpu_${tool})
  set_tests_properties(gpu.compute_sanitizer.${tool} PROPERTIES
    LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL ON TIMEOUT 1800)
endforeach()
add_test(NAME kernels.compute_sanitizer_row COMMAND ${sanitizer}/run_test.sh)
set_tests_properties(kernels.compute_sanitizer_row PROPERTIES LABELS unit TIMEOUT 60)
