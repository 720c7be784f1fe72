# The component `wheel`: the program behind the command `tally` of the Python package (kernels/subjects/pytorch). It needs
# nothing of the system but its C library. What it opens later stands in lib/ beside it.
set(TALLY_WHEEL_PROGRAM tally-check CACHE STRING "The target whose program the wheel holds; tally where there is none")
set(program tally)
if(TARGET ${TALLY_WHEEL_PROGRAM})
  set(program ${TALLY_WHEEL_PROGRAM})
endif()
# An RPATH, not a RUNPATH: it holds for what those libraries need, and before LD_LIBRARY_PATH.
set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/lib" BUILD_WITH_INSTALL_RPATH ON)
target_link_options(${program} PRIVATE LINKER:--disable-new-dtags LINKER:--gc-sections -s)
add_custom_target(tally_wheel DEPENDS ${program})

install(PROGRAMS $<TARGET_FILE:${program}> DESTINATION tally_program RENAME tally-check COMPONENT wheel EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION tally_program/licenses RENAME tally COMPONENT wheel
  EXCLUDE_FROM_ALL)
if(SKBUILD_SCRIPTS_DIR)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/kernels/subjects/pytorch/wheel/command.py DESTINATION ${SKBUILD_SCRIPTS_DIR}
    RENAME tally COMPONENT wheel EXCLUDE_FROM_ALL)
endif()
install(CODE "set(opened ${ARB_LIBRARY})\nset(linked ${ZLIB_LIBRARIES} ${OPENSSL_CRYPTO_LIBRARY})" COMPONENT wheel
  EXCLUDE_FROM_ALL)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/bundle.cmake COMPONENT wheel EXCLUDE_FROM_ALL)
