# A few seconds of fuzzing on every run of the tests; longer by hand: tests/fuzz/readers.sh FOLDER SECONDS.
add_test(NAME fuzz.readers
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/readers.sh ${CMAKE_CURRENT_BINARY_DIR}/fuzz 10)
set_tests_properties(fuzz.readers PROPERTIES LABELS fuzz SKIP_RETURN_CODE 77 TIMEOUT 1200)
# Traces together with their case; longer by hand: tests/fuzz/traces.sh FOLDER BUILD SECONDS.
add_test(NAME fuzz.traces
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/traces.sh ${CMAKE_CURRENT_BINARY_DIR}/fuzz-traces ${PROJECT_BINARY_DIR} 10)
set_tests_properties(fuzz.traces PROPERTIES LABELS fuzz SKIP_RETURN_CODE 77 TIMEOUT 3600)
