# Every command of README.md, run against this build.
add_test(NAME readme.commands COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/readme_commands.py
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
set_tests_properties(readme.commands PROPERTIES LABELS unit TIMEOUT 1200 PROCESSORS 2)
# Its lines for a PyTorch user, around a loop with a famous bug; the page shows what is printed.
add_test(NAME readme.own_loop COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/own_loop.py
  ${PROJECT_SOURCE_DIR} $<TARGET_FILE:tally-lab>)
set_tests_properties(readme.own_loop PROPERTIES LABELS "unit;torch" TIMEOUT 300 SKIP_RETURN_CODE 77)
