# Speed, measured by hand: `ninja oracle_benchmarks`, then tests/oracle_benchmarks.
if(benchmark_FOUND)
  add_executable(oracle_benchmarks EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/oracle_gradient.cpp)
  target_link_libraries(oracle_benchmarks PRIVATE tally_base tally_oracle benchmark::benchmark_main)
endif()
