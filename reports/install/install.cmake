# `cmake --install`: the program, what kernels of a user's own are compiled against and linked to
# (kernels/plugin/plugin.md), and its data. Everything finds the rest from where it stands, so the folder may be moved.
include(CMakePackageConfigHelpers)
include(${CMAKE_CURRENT_LIST_DIR}/object.cmake)

install(PROGRAMS $<TARGET_FILE:tally-lab> DESTINATION bin RENAME tally COMPONENT runtime)  # all parts
install(FILES ${PROJECT_SOURCE_DIR}/properties/campaign/training/data/digits.csv DESTINATION share/tally COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/tally RENAME copyright COMPONENT runtime)
# What records a training loop of one's own, where this checkout has it: `pip install PREFIX/share/tally/recorder`.
if(EXISTS ${PROJECT_SOURCE_DIR}/kernels/subjects/pytorch/pyproject.toml)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels/subjects/pytorch/ DESTINATION share/tally/recorder COMPONENT recorder
    PATTERN __pycache__ EXCLUDE)
endif()
install(FILES ${tally_object} DESTINATION lib/tally COMPONENT development)
if(TALLY_HAS_CUDA)
  install(FILES ${CUDA_cudart_static_LIBRARY} DESTINATION lib/tally COMPONENT development)
endif()

get_target_property(headers tally_kernels KERNEL_HEADERS)
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION include/tally/${folder} COMPONENT development)
endforeach()
# What training steps of one's own are made of: the header of libraries, and the NumPy program to begin with.
install(FILES ${PROJECT_SOURCE_DIR}/kernels/subjects/plugin/subject.h DESTINATION include/tally COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/kernels/subjects/process/numpy_step.py DESTINATION share/tally COMPONENT runtime)
install(FILES ${PROJECT_BINARY_DIR}/kernels/plugin/compiled_against.hpp DESTINATION include/tally/kernels/plugin
  COMPONENT development)

set(package lib/cmake/tally)
string(REGEX MATCH "^[0-9]+" compiler_major ${CMAKE_CXX_COMPILER_VERSION})
configure_file(${CMAKE_CURRENT_LIST_DIR}/tallyConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/reports/install/tallyConfig.cmake @ONLY)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/reports/install/tallyConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/reports/install/tallyConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/reports/install/tallyConfigVersion.cmake DESTINATION ${package} COMPONENT development)
foreach(file kernels/floating_point.cmake kernels/compile_kernels.cmake kernels/device/cuda/CMakeLists.txt
    kernels/plugin/add_equivalence_test.cmake kernels/plugin/plugin.cpp.in
    kernels/plugin/program/CMakeLists.txt)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${package}/${folder} COMPONENT development)
endforeach()
# As in the tree, but below /usr Tally's own headers are watched.
file(READ ${PROJECT_SOURCE_DIR}/kernels/device/checker/unobserved.txt unobserved)
string(REPLACE "src:/usr/*\n" "src:/usr/bin/../*\nsrc:/usr/lib/*\nsrc:/usr/include/c[+][+]/*\nsrc:/usr/include/x86_64*\nsrc:/usr/include/*.h\n"
  unobserved "${unobserved}")
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/reports/install/unobserved.txt CONTENT "${unobserved}" @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/reports/install/unobserved.txt DESTINATION ${package}/kernels/device/checker
  COMPONENT development)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/kernels/device/checker/with_clang.sh
  DESTINATION ${package}/kernels/device/checker COMPONENT development)
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)
if(TALLY_SELF_CONTAINED)
  include(${CMAKE_CURRENT_LIST_DIR}/wheel.cmake)
endif()
