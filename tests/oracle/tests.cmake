add_test(NAME oracle.case.schema_agrees
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/oracle/case/schema_agrees.py $<TARGET_FILE:tally-check>)
set_tests_properties(oracle.case.schema_agrees PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 60)
