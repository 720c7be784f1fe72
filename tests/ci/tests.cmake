# The jobs of continuous integration, read as files, and what counts a run: nothing is run, and no network is needed.
foreach(name jobs counts)
  add_test(NAME ci.${name} COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py)
  set_tests_properties(ci.${name} PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 60)
endforeach()
