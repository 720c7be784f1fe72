# The recorder of PyTorch loops, where there is a PyTorch.
set(recorder ${CMAKE_CURRENT_LIST_DIR})
file(GLOB_RECURSE recorder_tests CONFIGURE_DEPENDS ${recorder}/*_test.py)
set(framework_tests ${recorder_tests})
list(FILTER recorder_tests EXCLUDE REGEX tests/recorder/frameworks/)
foreach(script IN LISTS recorder_tests)
  cmake_path(GET script STEM name)
  add_test(NAME recorder.${name} COMMAND /usr/bin/python3 -B ${script})
  set_tests_properties(recorder.${name} PROPERTIES LABELS "unit;torch" TIMEOUT 900 SKIP_RETURN_CODE 77
    ENVIRONMENT "TALLY=$<TARGET_FILE:tally-lab>;OMP_NUM_THREADS=1")
endforeach()

# Loops of Accelerate, Lightning and Transformers: their environment is fetched once and kept, and used only when asked
# for by ctest -C frameworks -L frameworks.
add_test(NAME recorder.frameworks.environment COMMAND /usr/bin/python3 -B ${recorder}/frameworks/environment_test.py)
set_tests_properties(recorder.frameworks.environment PROPERTIES LABELS unit TIMEOUT 120)
list(FILTER framework_tests INCLUDE REGEX tests/recorder/frameworks/)
list(FILTER framework_tests EXCLUDE REGEX environment_test)
foreach(script IN LISTS framework_tests recorder_tests)
  cmake_path(GET script STEM name)
  add_test(NAME recorder.frameworks.${name} COMMAND /usr/bin/python3 -B ${recorder}/frameworks/run.py
    ${PROJECT_SOURCE_DIR}/build/frameworks ${script} CONFIGURATIONS frameworks)
  set_tests_properties(recorder.frameworks.${name} PROPERTIES LABELS frameworks RUN_SERIAL ON TIMEOUT 3600
    SKIP_RETURN_CODE 77 ENVIRONMENT "TALLY=$<TARGET_FILE:tally-lab>;OMP_NUM_THREADS=1")
endforeach()
