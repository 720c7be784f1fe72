# The jobs of continuous integration, read as files, what counts a run, and the rows of this build:
# nothing is run, and no network is needed.
foreach(name jobs counts)
  add_test(NAME ci.${name} COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py)
  set_tests_properties(ci.${name} PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 60)
endforeach()
if(NOT TALLY_SANITIZE)  # where some labels have no tests
  add_test(NAME ci.rows COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/rows_test.py ${PROJECT_BINARY_DIR})
  set_tests_properties(ci.rows PROPERTIES LABELS unit TIMEOUT 60)
endif()
