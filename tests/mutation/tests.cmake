# Mutants of the shipped kernels and of what judges them: the tool itself is tested in seconds, its long run only when asked for by
# ctest -C mutation -L mutation, over this build.
file(GLOB mutation_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*_test.py)
foreach(test IN LISTS mutation_tests)
  cmake_path(GET test STEM name)
  add_test(NAME mutation.${name} COMMAND /usr/bin/env python3 -B ${test})
  set_tests_properties(mutation.${name} PROPERTIES LABELS unit TIMEOUT 60)
endforeach()
foreach(of IN ITEMS kernels judging)
  add_test(NAME mutation.notices_mutants_of_${of} COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/mutate.py
    --of ${of} --build ${PROJECT_BINARY_DIR} --sample 60 --out ${CMAKE_CURRENT_BINARY_DIR}/mutation CONFIGURATIONS mutation)
  set_tests_properties(mutation.notices_mutants_of_${of} PROPERTIES LABELS mutation RUN_SERIAL ON TIMEOUT 5400)
endforeach()
