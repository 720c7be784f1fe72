# Planted bugs, and whether the default campaign notices them: that each has its place and what is counted is tested in
# seconds, the long run only when asked for by ctest -C mutation -R planted_bugs.measure, over this build.
foreach(name IN ITEMS bugs_test measure_test)
  add_test(NAME planted_bugs.${name} COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/${name}.py)
  set_tests_properties(planted_bugs.${name} PROPERTIES LABELS unit TIMEOUT 60)
endforeach()
add_test(NAME planted_bugs.measure COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/measure.py
  --build ${PROJECT_BINARY_DIR} --out ${CMAKE_CURRENT_BINARY_DIR}/planted_bugs CONFIGURATIONS mutation)
set_tests_properties(planted_bugs.measure PROPERTIES LABELS mutation RUN_SERIAL ON TIMEOUT 21600)
