# Ranks that are processes joined by MPI, once for each MPI; skipped, with the reason, where one is not there.
foreach(mpi openmpi mpich)
  add_test(NAME mpi.${mpi}
    COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/group_test.py $<TARGET_FILE:tally-lab> ${mpi}
      ${CMAKE_CURRENT_LIST_DIR}/four_ranks.json)
  set_tests_properties(mpi.${mpi} PROPERTIES LABELS mpi TIMEOUT 900 SKIP_RETURN_CODE 77 PROCESSORS 2)
  if(NOT TARGET tally_mpi_${mpi})
    continue()
  endif()
  add_library(faulty_ranks_${mpi} MODULE ${CMAKE_CURRENT_LIST_DIR}/faulty_ranks.cpp)
  get_target_property(includes tally_mpi_${mpi} INCLUDE_DIRECTORIES)
  target_include_directories(faulty_ranks_${mpi} SYSTEM PRIVATE ${includes})
  target_compile_definitions(faulty_ranks_${mpi} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  set_target_properties(faulty_ranks_${mpi} PROPERTIES PREFIX "")
  # Only when asked for: ctest -C failures -L mpi. They take minutes, and wait for what hangs.
  add_test(NAME mpi.${mpi}.kills CONFIGURATIONS failures
    COMMAND /usr/bin/env TALLY_MPI_KILLS=1 python3 -B ${CMAKE_CURRENT_LIST_DIR}/group_test.py $<TARGET_FILE:tally-lab> ${mpi}
      ${CMAKE_CURRENT_LIST_DIR}/four_ranks.json -k killed)
  set_tests_properties(mpi.${mpi}.kills PROPERTIES LABELS mpi TIMEOUT 900 SKIP_RETURN_CODE 77 PROCESSORS 2)
  add_test(NAME mpi.${mpi}.failures CONFIGURATIONS failures
    COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/failures_test.py $<TARGET_FILE:tally-lab> ${mpi}
      $<TARGET_FILE:faulty_ranks_${mpi}>)
  set_tests_properties(mpi.${mpi}.failures PROPERTIES LABELS mpi TIMEOUT 1800 SKIP_RETURN_CODE 77 PROCESSORS 2)
endforeach()
# Campaigns over processes.
foreach(mpi openmpi mpich)
  add_test(NAME mpi.across_${mpi}
    COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/across_test.py $<TARGET_FILE:tally> ${mpi}
      ${PROJECT_SOURCE_DIR}/reports/ci/slurm.sh)
  set_tests_properties(mpi.across_${mpi} PROPERTIES LABELS mpi TIMEOUT 900 SKIP_RETURN_CODE 77 PROCESSORS 2)
endforeach()
# Sums by NCCL; skipped, with the reason, where there is none or no GPU.
add_test(NAME gpu.nccl
  COMMAND /usr/bin/env python3 -B ${CMAKE_CURRENT_LIST_DIR}/nccl_test.py $<TARGET_FILE:tally-lab>
    ${CMAKE_CURRENT_LIST_DIR}/four_ranks.json)
set_tests_properties(gpu.nccl PROPERTIES LABELS gpu TIMEOUT 600 SKIP_RETURN_CODE 77 RUN_SERIAL ON)
