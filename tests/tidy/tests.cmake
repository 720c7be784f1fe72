# clang-tidy 16 with .clang-tidy: every header on each run of the tests; every source too, which takes long, only when
# asked for by ctest -C tidy -L tidy.
set(tidy_command /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/tidy.py)
get_target_property(tidy_eigen Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
add_test(NAME tidy.headers COMMAND ${tidy_command} headers --include ${tidy_eigen}
  --include ${CMAKE_CURRENT_BINARY_DIR}/subjects/include)
add_test(NAME tidy.samples COMMAND ${tidy_command} samples)
add_test(NAME tidy.units COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/units_test.py)
add_test(NAME tidy.everything COMMAND ${tidy_command} everything --include ${tidy_eigen}
  --include ${CMAKE_CURRENT_BINARY_DIR}/subjects/include CONFIGURATIONS tidy)
set_tests_properties(tidy.headers tidy.samples tidy.units PROPERTIES LABELS tidy SKIP_RETURN_CODE 77 TIMEOUT 1200)
set_tests_properties(tidy.everything PROPERTIES LABELS tidy SKIP_RETURN_CODE 77 TIMEOUT 7200 RUN_SERIAL ON)
