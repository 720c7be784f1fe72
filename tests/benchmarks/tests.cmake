# Speed, measured by hand: `ninja oracle_benchmarks fixed_benchmarks gradient_benchmarks bounds_benchmarks
# executor_benchmarks step_benchmarks ranks_benchmarks dealing_benchmarks`, then the programs of these names in tests/;
# beside PyTorch's check, tests/benchmarks/beside_peers.py; of the recorder of PyTorch loops,
# tests/benchmarks/recorder.py, of loops that are varied, tests/benchmarks/varied.py; on a machine with a GPU,
# tests/gpu/lane.py alone.
if(benchmark_FOUND)
  add_executable(oracle_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/oracle_gradient.cpp)
  target_link_libraries(oracle_benchmarks PRIVATE tally_base tally_oracle benchmark::benchmark_main)
  add_executable(fixed_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/fixed_benchmark.cpp)
  target_include_directories(fixed_benchmarks SYSTEM PRIVATE ${OpenBLAS_INCLUDE_DIRS})
  target_link_libraries(fixed_benchmarks PRIVATE tally_base tally_oracle ${OpenBLAS_LIBRARIES}
    benchmark::benchmark_main)
  add_executable(gradient_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/gradient_benchmark.cpp)
  target_include_directories(gradient_benchmarks SYSTEM PRIVATE ${OpenBLAS_INCLUDE_DIRS})
  target_link_libraries(gradient_benchmarks PRIVATE tally_base tally_oracle ${OpenBLAS_LIBRARIES}
    benchmark::benchmark_main)
  add_library(executor_work OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/executor_benchmark.cpp)
  tally_add_kernel_sources(executor_work ${CMAKE_CURRENT_LIST_DIR}/executor_kernels.cu)
  target_link_libraries(executor_work PUBLIC tally_base)
  add_executable(executor_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/equivalence_benchmark.cpp)
  target_link_libraries(executor_benchmarks PRIVATE tally_base tally_oracle tally_trace tally_kernels executor_work
    benchmark::benchmark_main)
  add_executable(bounds_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bounds_benchmark.cpp)
  target_link_libraries(bounds_benchmarks PRIVATE tally_base ${TALLY_LIBRARIES} rapidcheck nlohmann_json::nlohmann_json GTest::gtest benchmark::benchmark_main)
  add_executable(ranks_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/ranks_benchmark.cpp)
  target_link_libraries(ranks_benchmarks PRIVATE tally_base ${TALLY_LIBRARIES} rapidcheck nlohmann_json::nlohmann_json GTest::gtest benchmark::benchmark_main)
  add_executable(dealing_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/dealing_benchmark.cpp)
  target_link_libraries(dealing_benchmarks PRIVATE tally_base ${TALLY_LIBRARIES} rapidcheck nlohmann_json::nlohmann_json GTest::gtest)
  add_executable(wide_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/wide_benchmark.cpp)
  target_link_libraries(wide_benchmarks PRIVATE tally_base ${TALLY_LIBRARIES} rapidcheck nlohmann_json::nlohmann_json GTest::gtest benchmark::benchmark_main)
  add_executable(step_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/step_benchmark.cpp)
  target_compile_definitions(step_benchmarks PRIVATE
    TALLY_EXAMPLE_STEP="${CMAKE_CURRENT_BINARY_DIR}/subjects/right_step.so")
  target_link_libraries(step_benchmarks PRIVATE tally_base ${TALLY_LIBRARIES} benchmark::benchmark_main)
  add_dependencies(step_benchmarks right_step)
  add_library(device_work OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/window_sizes.cpp
    ${CMAKE_CURRENT_LIST_DIR}/window_state.cpp)
  tally_add_kernel_sources(device_work ${CMAKE_CURRENT_LIST_DIR}/device_copy.cu)
  target_link_libraries(device_work PUBLIC tally_base)
  add_executable(device_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/device_benchmark.cpp)
  set(tally_toolkit none)
  if(TALLY_HAS_CUDA)
    set(tally_toolkit ${CUDAToolkit_VERSION})
  endif()
  target_compile_definitions(device_benchmarks PRIVATE TALLY_CUDA_TOOLKIT="${tally_toolkit}")
  target_link_libraries(device_benchmarks PRIVATE tally_base tally_oracle tally_trace tally_kernels device_work
    benchmark::benchmark)
endif()

# What figures are made into, on made-up numbers: nothing is timed.
add_test(NAME benchmarks.window_table COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/window_table_test.py)
add_test(NAME benchmarks.peer_table COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/peer_table_test.py)
set_tests_properties(benchmarks.window_table benchmarks.peer_table PROPERTIES LABELS unit TIMEOUT 120)
