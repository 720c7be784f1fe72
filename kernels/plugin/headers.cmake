# What a user's kernel may be compiled against, below the source folder: the target's property KERNEL_HEADERS. Adds to
# it what says which text they have.
function(tally_add_kernel_abi target)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/kernels/*.hpp
    ${PROJECT_SOURCE_DIR}/oracle/case/*.hpp ${PROJECT_SOURCE_DIR}/oracle/layers/*.hpp
    ${PROJECT_SOURCE_DIR}/oracle/registered_*.hpp)
  set_property(TARGET ${target} PROPERTY KERNEL_HEADERS ${headers})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/plugin)
  string(REPLACE ";" "\n" lines "${headers}")
  file(CONFIGURE OUTPUT ${out}/headers.txt CONTENT "${lines}\n")
  list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/abi.cmake)
  add_custom_command(OUTPUT ${out}/abi.stamp BYPRODUCTS ${out}/abi.cpp ${out}/compiled_against.hpp
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DHEADERS=${out}/headers.txt -DVERSION=${PROJECT_VERSION}
      -DOUT=${out} -P ${script}
    COMMAND ${CMAKE_COMMAND} -E touch ${out}/abi.stamp
    DEPENDS ${headers} ${out}/headers.txt ${script} COMMENT "Looking up the headers of kernels" VERBATIM)
  target_sources(${target} PRIVATE ${out}/abi.cpp ${out}/abi.stamp)
  set_source_files_properties(${out}/abi.cpp PROPERTIES GENERATED ON)
endfunction()
