# The launcher over a small project of its own: neither the network nor this build is touched. bare_root.sh, which
# proves the set-up on a bare Debian, is run by hand.
file(GLOB launcher_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.sh)
list(FILTER launcher_tests EXCLUDE REGEX "/bare_root.sh$")
foreach(script IN LISTS launcher_tests)
  cmake_path(GET script STEM name)
  add_test(NAME launcher.${name} COMMAND ${script})
  set_tests_properties(launcher.${name} PROPERTIES LABELS unit TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()
set_tests_properties(launcher.second_run_is_quick PROPERTIES RUN_SERIAL ON)
