# name_commit(PROGRAM): the program knows which commit it is, found at every build and written only where it changed.
set(tally_tree_script ${CMAKE_CURRENT_LIST_DIR}/tree.cmake)
function(name_commit program)
  set(tree ${CMAKE_CURRENT_BINARY_DIR}/tree.cpp)
  # The launcher keeps this comment to itself: a build with nothing to do says nothing.
  add_custom_target(tally_tree COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUT=${tree} -P ${tally_tree_script}
    BYPRODUCTS ${tree} COMMENT "Looking up the commit" VERBATIM)
  add_dependencies(${program} tally_tree)
  target_sources(${program} PRIVATE ${tree})
endfunction()
