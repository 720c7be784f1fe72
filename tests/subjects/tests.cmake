# The recorder of PyTorch loops, where there is a PyTorch.
file(GLOB recorder_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/subjects/pytorch/tests/*_test.py)
foreach(script IN LISTS recorder_tests)
  cmake_path(GET script STEM name)
  add_test(NAME subjects.pytorch.${name} COMMAND /usr/bin/python3 -B ${script})
  set_tests_properties(subjects.pytorch.${name} PROPERTIES LABELS "unit;torch" TIMEOUT 900 SKIP_RETURN_CODE 77
    ENVIRONMENT "TALLY=$<TARGET_FILE:tally>;OMP_NUM_THREADS=1")
endforeach()

# Loops of Accelerate, Lightning and Transformers: their environment is fetched once and kept, and used only when asked
# for by ctest -C frameworks -L frameworks.
set(frameworks ${PROJECT_SOURCE_DIR}/kernels/subjects/pytorch/tests/frameworks)
add_test(NAME subjects.frameworks.environment COMMAND /usr/bin/python3 -B ${frameworks}/environment_test.py)
set_tests_properties(subjects.frameworks.environment PROPERTIES LABELS unit TIMEOUT 120)
add_test(NAME subjects.frameworks.loops COMMAND /usr/bin/python3 -B ${frameworks}/run.py
  ${PROJECT_SOURCE_DIR}/build/frameworks ${frameworks}/frameworks_test.py CONFIGURATIONS frameworks)
set_tests_properties(subjects.frameworks.loops PROPERTIES LABELS frameworks RUN_SERIAL ON TIMEOUT 3600
  SKIP_RETURN_CODE 77 ENVIRONMENT "TALLY=$<TARGET_FILE:tally>;OMP_NUM_THREADS=1")
foreach(script IN LISTS recorder_tests)
  cmake_path(GET script STEM name)
  add_test(NAME subjects.frameworks.${name} COMMAND /usr/bin/python3 -B ${frameworks}/run.py
    ${PROJECT_SOURCE_DIR}/build/frameworks ${script} CONFIGURATIONS frameworks)
  set_tests_properties(subjects.frameworks.${name} PROPERTIES LABELS frameworks RUN_SERIAL ON TIMEOUT 3600
    SKIP_RETURN_CODE 77 ENVIRONMENT "TALLY=$<TARGET_FILE:tally>;OMP_NUM_THREADS=1")
endforeach()
