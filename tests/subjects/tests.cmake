# The recorder of PyTorch loops, where there is a PyTorch.
file(GLOB recorder_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/subjects/pytorch/tests/*_test.py)
foreach(script IN LISTS recorder_tests)
  cmake_path(GET script STEM name)
  add_test(NAME subjects.pytorch.${name} COMMAND /usr/bin/python3 -B ${script})
  set_tests_properties(subjects.pytorch.${name} PROPERTIES LABELS "unit;torch" TIMEOUT 900 SKIP_RETURN_CODE 77
    ENVIRONMENT "TALLY=$<TARGET_FILE:tally-lab>;OMP_NUM_THREADS=1")
endforeach()

# Training steps of one's own: libraries and programs, right, wrong and hostile.
configure_file(${PROJECT_SOURCE_DIR}/kernels/subjects/plugin/subject.h
  ${CMAKE_CURRENT_BINARY_DIR}/subjects/include/tally/subject.h COPYONLY)
function(add_step name source)
  add_library(${name} MODULE ${source})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/subjects/include)
  target_compile_definitions(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/subjects)
endfunction()
set(steps ${CMAKE_CURRENT_LIST_DIR}/step)
add_step(right_step ${PROJECT_SOURCE_DIR}/tests/examples/step/step.cpp)
add_step(wrong_step ${PROJECT_SOURCE_DIR}/tests/examples/step/step.cpp MEAN_OF_MEANS)
add_step(hostile_step ${steps}/hostile_step.cpp)
foreach(odd ABI RUN CLAIMS LOAD NULL SYMBOL)
  string(TOLOWER ${odd} word)
  add_step(odd_${word} ${steps}/odd_entries.cpp ODD_${odd})
endforeach()
file(GLOB step_tests CONFIGURE_DEPENDS ${steps}/*_test.py)
foreach(script IN LISTS step_tests)
  cmake_path(GET script STEM name)
  add_test(NAME subjects.step.${name} COMMAND /usr/bin/env python3 -B ${script} $<TARGET_FILE:tally-lab>
    ${CMAKE_CURRENT_BINARY_DIR}/subjects)
  set_tests_properties(subjects.step.${name} PROPERTIES LABELS unit TIMEOUT 900 SKIP_RETURN_CODE 77)
endforeach()

# Loops of Accelerate, Lightning and Transformers: their environment is fetched once and kept, and used only when asked
# for by ctest -C frameworks -L frameworks.
set(frameworks ${PROJECT_SOURCE_DIR}/kernels/subjects/pytorch/tests/frameworks)
add_test(NAME subjects.frameworks.environment COMMAND /usr/bin/python3 -B ${frameworks}/environment_test.py)
set_tests_properties(subjects.frameworks.environment PROPERTIES LABELS unit TIMEOUT 120)
file(GLOB framework_tests CONFIGURE_DEPENDS ${frameworks}/*_test.py)
list(FILTER framework_tests EXCLUDE REGEX environment_test)
foreach(script IN LISTS framework_tests recorder_tests)
  cmake_path(GET script STEM name)
  add_test(NAME subjects.frameworks.${name} COMMAND /usr/bin/python3 -B ${frameworks}/run.py
    ${PROJECT_SOURCE_DIR}/build/frameworks ${script} CONFIGURATIONS frameworks)
  set_tests_properties(subjects.frameworks.${name} PROPERTIES LABELS frameworks RUN_SERIAL ON TIMEOUT 3600
    SKIP_RETURN_CODE 77 ENVIRONMENT "TALLY=$<TARGET_FILE:tally-lab>;OMP_NUM_THREADS=1")
endforeach()
