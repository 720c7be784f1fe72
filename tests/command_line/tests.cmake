# The program as its users meet it: exit codes, messages, nothing half-written.
add_test(NAME command_line.behaves
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/behaves.py $<TARGET_FILE:tally> ${PROJECT_SOURCE_DIR})
set_tests_properties(command_line.behaves PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.shards
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/shards.py $<TARGET_FILE:tally>)
set_tests_properties(command_line.shards PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.gate
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/gate.py $<TARGET_FILE:tally>)
set_tests_properties(command_line.gate PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.against
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/against.py $<TARGET_FILE:tally>)
set_tests_properties(command_line.against PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.replays
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/replays.py $<TARGET_FILE:tally>)
set_tests_properties(command_line.replays PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.refuses
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/refuses.py $<TARGET_FILE:tally> ${PROJECT_SOURCE_DIR})
set_tests_properties(command_line.refuses PROPERTIES LABELS unit TIMEOUT 300)
