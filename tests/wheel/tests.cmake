add_test(NAME wheel.backend COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/backend_test.py)
set_tests_properties(wheel.backend PROPERTIES LABELS unit TIMEOUT 60)
# The Python package with the program in it, made as `pip` makes it: minutes, and the package index for its tools, so only
# when asked for by ctest -C wheel -L wheel. The wheel stays in the build folder.
if(NOT TALLY_SANITIZE)
  add_test(NAME wheel.package COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/wheel.py ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR}/wheel CONFIGURATIONS wheel)
  set_tests_properties(wheel.package PROPERTIES LABELS wheel RUN_SERIAL ON TIMEOUT 3600 SKIP_RETURN_CODE 77)
endif()
