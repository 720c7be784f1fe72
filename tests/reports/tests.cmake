# Reports of hand-made results, and the tests that look at them as files and in a browser.
set(samples ${CMAKE_CURRENT_LIST_DIR}/samples)
add_library(report_samples OBJECT ${samples}/passing.cpp ${samples}/failing.cpp ${samples}/captures.cpp ${samples}/varied.cpp
  ${samples}/operations.cpp ${samples}/study.cpp)
target_link_libraries(report_samples PUBLIC tally_base)
add_executable(write_samples ${samples}/write_samples.cpp)
target_link_libraries(write_samples PRIVATE report_samples tally_records tally_reports)
if(TARGET reports_tests)
  target_link_libraries(reports_tests PRIVATE report_samples)
endif()

set(pages ${CMAKE_CURRENT_BINARY_DIR}/report-samples)
add_test(NAME reports.samples COMMAND write_samples ${pages})
set_tests_properties(reports.samples PROPERTIES FIXTURES_SETUP report_samples LABELS unit TIMEOUT 60)

file(GLOB page_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*_test.py)
foreach(test IN LISTS page_tests)
  cmake_path(GET test STEM name)
  add_test(NAME reports.${name} COMMAND /usr/bin/python3 -B ${test} ${pages})
  set_tests_properties(reports.${name} PROPERTIES FIXTURES_REQUIRED report_samples SKIP_RETURN_CODE 77 TIMEOUT 600
    LABELS $<IF:$<IN_LIST:${name},browser_test$<SEMICOLON>capture_browser_test$<SEMICOLON>axe_test>,browser,unit>
    ENVIRONMENT "TALLY_AXE=${PROJECT_SOURCE_DIR}/build/axe/axe.min.js;TALLY_WRITE_SAMPLES=$<TARGET_FILE:write_samples>")
endforeach()

add_test(NAME reports.ci_recipes
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/ci/recipes.py $<TARGET_FILE:tally-lab> ${PROJECT_SOURCE_DIR})
set_tests_properties(reports.ci_recipes PROPERTIES SKIP_RETURN_CODE 77 LABELS unit TIMEOUT 600)
