# A program of its own: it replaces operator new.
if(NOT TALLY_SANITIZE)
  add_executable(allocation_tests ${CMAKE_CURRENT_LIST_DIR}/count.cpp ${CMAKE_CURRENT_LIST_DIR}/lookups.cpp)
  target_link_libraries(allocation_tests PRIVATE tally_base ${TALLY_LIBRARIES} rapidcheck nlohmann_json::nlohmann_json GTest::gtest_main)
  gtest_discover_tests(allocation_tests DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit TIMEOUT 120)
endif()
