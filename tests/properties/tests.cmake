# One ctest row a law and a fault, found by their records. All laws run once, as a user runs them: every way of a
# launch, every value of an option. A law's row says what was found of it; `./tally verify --law NAME` runs one.
set(row_output ${CMAKE_CURRENT_BINARY_DIR}/rows)
set(campaign_row /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/campaign_row.py ${row_output}/default)
add_test(NAME campaign.runs
  COMMAND ${campaign_row} -- $<TARGET_FILE:tally> verify --subject host --no-training --out ${row_output}/default)
set_tests_properties(campaign.runs PROPERTIES LABELS law PROCESSORS 2 TIMEOUT 1800 FIXTURES_SETUP campaign)
add_test(NAME campaign.default COMMAND ${campaign_row})
set_tests_properties(campaign.default PROPERTIES LABELS law TIMEOUT 60 FIXTURES_REQUIRED campaign)
add_test(NAME campaign.rows COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/campaign_row_test.py)
set_tests_properties(campaign.rows PROPERTIES LABELS unit TIMEOUT 60)

file(GLOB_RECURSE law_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/properties/laws/*.cpp)
foreach(source IN LISTS law_sources)
  file(READ ${source} text)
  string(REGEX MATCHALL "RegisterLaw registered{{\n    \\.name = \"[^\"]+\"" records "${text}")
  foreach(record IN LISTS records)
    string(REGEX REPLACE ".*\"([^\"]+)\"$" "\\1" law "${record}")
    add_test(NAME law.${law} COMMAND ${campaign_row} ${law})
    set_tests_properties(law.${law} PROPERTIES LABELS law TIMEOUT 60 FIXTURES_REQUIRED campaign)
    add_test(NAME gpu.${law}
      COMMAND tally verify --subject cuda --law ${law} --out ${row_output}/gpu_${law})
    set_tests_properties(gpu.${law} PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL ON TIMEOUT 600)
  endforeach()
endforeach()
# Every law once more, a few cases each, with every access of a kernel to memory watched.
add_test(NAME law.on_the_checked_executor
  COMMAND tally verify --subject checked --effort 0.05 --no-training --processes 1 --out ${row_output}/checked)
set_tests_properties(law.on_the_checked_executor PROPERTIES LABELS law SKIP_RETURN_CODE 77 TIMEOUT 600)

file(GLOB_RECURSE fault_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/properties/faults/*.cpp
  ${PROJECT_SOURCE_DIR}/properties/faults/*.cu)
foreach(source IN LISTS fault_sources)
  file(READ ${source} text)
  string(REGEX MATCHALL "RegisterFault registered{{\n    \\.name = \"[^\"]+\"" records "${text}")
  foreach(record IN LISTS records)
    string(REGEX REPLACE ".*\"([^\"]+)\"$" "\\1" fault "${record}")
    add_test(NAME fault.${fault} COMMAND tally faults ${fault} --subject host --processes 1)
    set_tests_properties(fault.${fault} PROPERTIES LABELS fault TIMEOUT 600)
  endforeach()
endforeach()

# A race that only some schedules show, for the test of how one is written down.
add_library(shy_race OBJECT)
tally_add_kernel_sources(shy_race ${CMAKE_CURRENT_LIST_DIR}/campaign/shy_race.cu)
target_link_libraries(shy_race PUBLIC tally_base)
target_link_libraries(properties_tests PRIVATE shy_race)
