# Speed, measured by hand: `ninja oracle_benchmarks bounds_benchmarks`, then tests/oracle_benchmarks and
# tests/bounds_benchmarks.
if(benchmark_FOUND)
  add_executable(oracle_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/oracle_gradient.cpp)
  target_link_libraries(oracle_benchmarks PRIVATE tally_base tally_oracle benchmark::benchmark_main)
  add_executable(bounds_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bounds_benchmark.cpp)
  target_link_libraries(bounds_benchmarks PRIVATE tally_base tally_oracle tally_kernels tally_properties tally_faults
    tally_reports rapidcheck nlohmann_json::nlohmann_json GTest::gtest benchmark::benchmark_main)
endif()
