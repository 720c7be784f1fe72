# Kernels of a user's own, built in trees of their own against this build as it is installed.
if(NOT TALLY_SANITIZE)
  add_test(NAME plugin.kernels COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/plugin.py ${PROJECT_BINARY_DIR}
    ${TALLY_HAS_CHECKED} ${TALLY_HAS_CUDA})
  add_test(NAME plugin.refusals COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/refusals.py ${PROJECT_BINARY_DIR})
  add_test(NAME plugin.package COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/package.py ${PROJECT_BINARY_DIR})
  add_test(NAME plugin.recipes COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/recipes.py ${PROJECT_BINARY_DIR})
  add_test(NAME plugin.step COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/step.py ${PROJECT_BINARY_DIR})
  set_tests_properties(plugin.step plugin.kernels plugin.refusals plugin.package plugin.recipes PROPERTIES LABELS "unit;plugin" SKIP_RETURN_CODE 77
    TIMEOUT 1500 PROCESSORS 2)
endif()
add_test(NAME plugin.packaging COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/packaging_test.py)
set_tests_properties(plugin.packaging PROPERTIES LABELS "unit;plugin" TIMEOUT 120)
