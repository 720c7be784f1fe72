# Every command of README.md, run against this build.
add_test(NAME readme.commands COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/readme_commands.py
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
set_tests_properties(readme.commands PROPERTIES LABELS unit TIMEOUT 1200 PROCESSORS 2)
