# What oracle/architecture.md says is added by files alone, added and run.
add_test(NAME additions.need_no_list_edited
  COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/adds.py ${PROJECT_BINARY_DIR})
set_tests_properties(additions.need_no_list_edited PROPERTIES LABELS unit TIMEOUT 600)
