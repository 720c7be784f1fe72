# What the default campaign never reaches: the tool is tested in seconds; its run takes minutes, over a build for the host
# alone, whose gaps reasons.json knows.
add_test(NAME coverage.cover_test COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/cover_test.py)
set_tests_properties(coverage.cover_test PROPERTIES LABELS unit TIMEOUT 120)
set(cover /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/cover.py
  --build ${PROJECT_BINARY_DIR} --jobs 2 --out ${CMAKE_CURRENT_BINARY_DIR}/coverage)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR TALLY_SANITIZE)
  set(cover sh -c "echo 'skipped: needs a build by GCC, without sanitizers'; exit 77")
elseif(TALLY_HAS_CUDA)
  list(APPEND cover --host)
endif()
add_test(NAME coverage.default_campaign CONFIGURATIONS coverage COMMAND ${cover})
set_tests_properties(coverage.default_campaign PROPERTIES
  LABELS coverage PROCESSORS 2 SKIP_RETURN_CODE 77 TIMEOUT 3600)
