# Mutants of the shipped kernels: the tool itself is tested in seconds, its long run only when asked for by
# ctest -C mutation -L mutation, over this build.
file(GLOB mutation_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*_test.py)
foreach(test IN LISTS mutation_tests)
  cmake_path(GET test STEM name)
  add_test(NAME mutation.${name} COMMAND /usr/bin/env python3 -B ${test})
  set_tests_properties(mutation.${name} PROPERTIES LABELS unit TIMEOUT 60)
endforeach()
add_test(NAME mutation.laws_notice_mutants COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/mutate.py
  --build ${PROJECT_BINARY_DIR} --sample 60 --out ${CMAKE_CURRENT_BINARY_DIR}/mutation CONFIGURATIONS mutation)
set_tests_properties(mutation.laws_notice_mutants PROPERTIES LABELS mutation RUN_SERIAL ON TIMEOUT 3600)
