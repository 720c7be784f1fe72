# Hostile inputs over everything that the program reads; thousands by hand: tests/hostile/hostile.py TALLY ROOT --count 5000.
add_test(NAME hostile.inputs
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/hostile.py $<TARGET_FILE:tally-lab> ${PROJECT_SOURCE_DIR})
set_tests_properties(hostile.inputs PROPERTIES LABELS fuzz TIMEOUT 900)
