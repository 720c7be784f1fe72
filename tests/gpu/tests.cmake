# The lane itself runs by hand, on a machine with a GPU; what it makes of its steps is tested with stand-ins.
add_test(NAME gpu_lane.outcomes COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/lane_test.py)
set_tests_properties(gpu_lane.outcomes PROPERTIES LABELS unit TIMEOUT 60)
