foreach(name units made_sources)
  add_test(NAME units.${name} COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py)
  set_tests_properties(units.${name} PROPERTIES LABELS unit TIMEOUT 60)
endforeach()
# How much there is to compile. Without units each source is one.
if(TALLY_UNITS)
  add_test(NAME units.budget COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/budget.py ${PROJECT_BINARY_DIR})
  set_tests_properties(units.budget PROPERTIES LABELS unit TIMEOUT 120)
endif()
