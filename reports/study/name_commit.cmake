# name_commit(TARGET): the program it is linked to knows which commit it is, found at every build and written only where it changed.
set(tally_tree_script ${CMAKE_CURRENT_LIST_DIR}/tree.cmake)
function(name_commit target)
  set(tree ${CMAKE_CURRENT_BINARY_DIR}/tree.cpp)
  # The launcher keeps this comment to itself: a build with nothing to do says nothing.
  add_custom_target(tally_tree COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUT=${tree} -P ${tally_tree_script}
    BYPRODUCTS ${tree} COMMENT "Looking up the commit" VERBATIM)
  add_dependencies(${target} tally_tree)
  target_sources(${target} PRIVATE ${tree})
  set_source_files_properties(${tree} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
