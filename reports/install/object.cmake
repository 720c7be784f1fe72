# tally.o: everything that the program is made of, in one object, but for the shared libraries. One that a user's kernels
# are linked to cannot lose a record, and needs none of the packages that Tally is built with.
# Sets shared_libraries: what such a program is linked to, by the names that a runtime package installs.
set(shared_libraries "")
set(static_libraries $<TARGET_FILE:rapidcheck>)
foreach(library ${ARB_LIBRARY} ${FLINT_LIBRARY} ${MPFR_LIBRARY} ${GMP_LIBRARY} ${ZLIB_LIBRARIES} ${OPENSSL_CRYPTO_LIBRARY})
  if(library MATCHES "\\.a$")
    list(APPEND static_libraries ${library})
    continue()
  endif()
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE headers ERROR_QUIET)
  if(headers MATCHES "SONAME +([^\n ]+)")
    list(APPEND shared_libraries -l:${CMAKE_MATCH_1})
  endif()
endforeach()

set(parts tally_main ${TALLY_LAB})
foreach(part tally_kernels_checked tally_kernels_cuda tally_faults_checked tally_faults_cuda)
  if(TARGET ${part})
    list(APPEND parts ${part})
  endif()
endforeach()
set(objects "")
foreach(part IN LISTS parts)
  list(APPEND objects "$<FILTER:$<TARGET_OBJECTS:${part}>,EXCLUDE,[.][gp]ch$>")  # a precompiled header is one of them
endforeach()
set(tally_object ${CMAKE_CURRENT_BINARY_DIR}/reports/install/tally.o)
file(GENERATE OUTPUT ${tally_object}.parts CONTENT "\"$<JOIN:${objects},\"\n\">\"\n")  # a path may hold a space
add_custom_command(OUTPUT ${tally_object}
  COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -o ${tally_object} @${tally_object}.parts ${static_libraries}
  DEPENDS ${objects} ${tally_object}.parts COMMENT "Joining the program in one object" VERBATIM)
add_custom_target(tally_object ALL DEPENDS ${tally_object})
