# The jobs of continuous integration, read as files: nothing is run, and no network is needed.
add_test(NAME ci.jobs COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/jobs_test.py)
set_tests_properties(ci.jobs PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 60)
