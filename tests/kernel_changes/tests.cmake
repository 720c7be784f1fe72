# Planted changes of kernels, and whether the gate names them: what is read and planted is tested in seconds, the long
# run only when asked for by ctest -C mutation -R kernel_changes.measure, over this build.
add_test(NAME kernel_changes.planted COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/planted_test.py
  ${PROJECT_SOURCE_DIR} $<TARGET_FILE:tally-lab>)
set_tests_properties(kernel_changes.planted PROPERTIES LABELS unit TIMEOUT 60)
add_test(NAME kernel_changes.measure COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/measure.py
  --build ${PROJECT_BINARY_DIR} --out ${CMAKE_CURRENT_BINARY_DIR}/kernel_changes CONFIGURATIONS mutation)
set_tests_properties(kernel_changes.measure PROPERTIES LABELS mutation RUN_SERIAL ON TIMEOUT 7200)
