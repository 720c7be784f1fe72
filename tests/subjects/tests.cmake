# The recorder of PyTorch loops, where there is a PyTorch.
file(GLOB recorder_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/subjects/pytorch/tests/*_test.py)
foreach(script IN LISTS recorder_tests)
  cmake_path(GET script STEM name)
  add_test(NAME subjects.pytorch.${name} COMMAND /usr/bin/python3 -B ${script})
  set_tests_properties(subjects.pytorch.${name} PROPERTIES LABELS "unit;torch" TIMEOUT 900 SKIP_RETURN_CODE 77
    ENVIRONMENT "TALLY=$<TARGET_FILE:tally>;OMP_NUM_THREADS=1")
endforeach()
