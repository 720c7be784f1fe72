# Ranks that are processes joined by MPI, once for each MPI; skipped, with the reason, where one is not there.
foreach(mpi openmpi mpich)
  add_test(NAME mpi.${mpi}
    COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/crew_test.py $<TARGET_FILE:tally> ${mpi}
      ${CMAKE_CURRENT_LIST_DIR}/four_ranks.json)
  set_tests_properties(mpi.${mpi} PROPERTIES LABELS mpi TIMEOUT 900 SKIP_RETURN_CODE 77 PROCESSORS 2)
endforeach()
# Campaigns over processes.
foreach(mpi openmpi mpich)
  add_test(NAME mpi.across_${mpi}
    COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/across_test.py $<TARGET_FILE:tally> ${mpi}
      ${PROJECT_SOURCE_DIR}/reports/ci/slurm.sh)
  set_tests_properties(mpi.across_${mpi} PROPERTIES LABELS mpi TIMEOUT 900 SKIP_RETURN_CODE 77 PROCESSORS 2)
endforeach()
