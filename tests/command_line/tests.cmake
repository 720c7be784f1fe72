# The program as its users meet it: exit codes, messages, nothing half-written.
add_test(NAME command_line.behaves
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/behaves.py $<TARGET_FILE:tally-lab> ${PROJECT_SOURCE_DIR})
set_tests_properties(command_line.behaves PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.doctor
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/doctor.py $<TARGET_FILE:tally-lab>)
set_tests_properties(command_line.doctor PROPERTIES LABELS unit TIMEOUT 300)
add_test(NAME command_line.captures
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/captures.py $<TARGET_FILE:tally-lab>
    ${PROJECT_SOURCE_DIR}/tests/readme/uneven_micro_batches.json)
set_tests_properties(command_line.captures PROPERTIES LABELS unit TIMEOUT 300)
add_test(NAME command_line.vary
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/vary.py $<TARGET_FILE:tally-check>)
set_tests_properties(command_line.vary PROPERTIES LABELS unit TIMEOUT 300)
# Loops in NumPy, right and wrong, by how much of them is recorded.
add_test(NAME command_line.causes
  COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/loops/causes.py $<TARGET_FILE:tally-lab>)
set_tests_properties(command_line.causes PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.shards
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/shards.py $<TARGET_FILE:tally-lab>)
set_tests_properties(command_line.shards PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.gate
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/gate.py $<TARGET_FILE:tally-lab>)
set_tests_properties(command_line.gate PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.against
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/against.py $<TARGET_FILE:tally-lab>)
set_tests_properties(command_line.against PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.replays
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/replays.py $<TARGET_FILE:tally-lab>)
set_tests_properties(command_line.replays PROPERTIES LABELS unit TIMEOUT 900)
add_test(NAME command_line.refuses
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/refuses.py $<TARGET_FILE:tally-lab> ${PROJECT_SOURCE_DIR})
set_tests_properties(command_line.refuses PROPERTIES LABELS unit TIMEOUT 300)
add_test(NAME command_line.files
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/files.py $<TARGET_FILE:tally-lab>)
set_tests_properties(command_line.files PROPERTIES LABELS unit TIMEOUT 900)
# A few here; by hand as many as one likes: kills.py TALLY --count 200.
add_test(NAME command_line.kills
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/kills.py $<TARGET_FILE:tally-lab> --count 18)
set_tests_properties(command_line.kills PROPERTIES LABELS unit TIMEOUT 900)

# The program once more, with kernels that end the process they run in.
add_executable(tally_with_dying_kernels ${CMAKE_CURRENT_LIST_DIR}/dying_kernels.cpp)
target_link_libraries(tally_with_dying_kernels PRIVATE tally_main ${TALLY_LAB})
add_test(NAME command_line.deaths
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/deaths.py $<TARGET_FILE:tally_with_dying_kernels>)
set_tests_properties(command_line.deaths PROPERTIES LABELS unit TIMEOUT 900)
if(NOT TALLY_SANITIZE)
  add_test(NAME command_line.starts_without_libraries
    COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/libraries.py $<TARGET_FILE:tally-lab>
      ${PROJECT_SOURCE_DIR}/tests/readme/uneven_micro_batches.json)
  set_tests_properties(command_line.starts_without_libraries PROPERTIES LABELS unit TIMEOUT 60)
endif()
add_test(NAME command_line.keeps_long_double
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/keeps_long_double.sh ${CMAKE_OBJDUMP} $<TARGET_FILE:tally-lab>)
set_tests_properties(command_line.keeps_long_double PROPERTIES LABELS unit TIMEOUT 120)

add_test(NAME command_line.language_models
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/language_models.py $<TARGET_FILE:tally-lab>)
set_tests_properties(command_line.language_models PROPERTIES LABELS unit TIMEOUT 300)
# Cases that people wrote, under laws that draw others.
add_test(NAME command_line.every_law
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/every_law.py $<TARGET_FILE:tally-lab>
    ${PROJECT_SOURCE_DIR}/tests/oracle/case/valid ${PROJECT_SOURCE_DIR}/tests/mpi/four_ranks.json)
set_tests_properties(command_line.every_law PROPERTIES LABELS unit TIMEOUT 900 PROCESSORS 2)
add_test(NAME command_line.parts
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/parts.py $<TARGET_FILE_DIR:tally-lab>)
set_tests_properties(command_line.parts PROPERTIES LABELS unit TIMEOUT 300)
