# Planted bugs: whether each still has its place is tested in seconds.
add_test(NAME planted_bugs.fit COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/bugs_test.py)
set_tests_properties(planted_bugs.fit PROPERTIES LABELS unit TIMEOUT 60)
