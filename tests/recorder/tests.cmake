# The recorder of PyTorch loops against this build's program: right loops pass, wrong ones do not. Skipped, with a
# reason, where /usr/bin/python3 has no PyTorch.
set(recorder_folder ${PROJECT_SOURCE_DIR}/kernels/subjects/pytorch)
file(GLOB recorder_tests CONFIGURE_DEPENDS ${recorder_folder}/tests/*_test.py)
foreach(recorder_test IN LISTS recorder_tests)
  get_filename_component(recorder_name ${recorder_test} NAME_WE)
  string(REGEX REPLACE "_test$" "" recorder_name ${recorder_name})
  add_test(NAME torch.${recorder_name}
    COMMAND /usr/bin/env TALLY=$<TARGET_FILE:tally> /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/with_torch.py ${recorder_test})
  set_tests_properties(torch.${recorder_name} PROPERTIES LABELS torch SKIP_RETURN_CODE 77 TIMEOUT 900)
endforeach()
