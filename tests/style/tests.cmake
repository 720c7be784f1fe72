# Each file of checks/ is two tests: the repository keeps the rule, and the rule finds its bad samples.
file(GLOB style_checks CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/checks/*.py)
set(style_includes)
foreach(folder IN LISTS EIGEN3_INCLUDE_DIRS Boost_INCLUDE_DIRS CUDAToolkit_INCLUDE_DIRS)
  list(APPEND style_includes --include ${folder})
endforeach()
if(TARGET Eigen3::Eigen)
  get_target_property(eigen_folder Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
  list(APPEND style_includes --include ${eigen_folder})
endif()
list(APPEND style_includes --include ${CMAKE_CURRENT_BINARY_DIR}/subjects/include)  # as an installed Tally has it
foreach(check IN LISTS style_checks)
  cmake_path(GET check STEM name)
  set(command /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/check.py ${name})
  add_test(NAME style.${name} COMMAND ${command} --root ${PROJECT_SOURCE_DIR} ${style_includes})
  add_test(NAME style.${name}.finds_its_bad_samples COMMAND ${command} --samples)
  set_tests_properties(style.${name} style.${name}.finds_its_bad_samples PROPERTIES
    LABELS style SKIP_RETURN_CODE 77 TIMEOUT 1800 ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER}")
endforeach()
add_test(NAME style.check COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/check_test.py)
set_tests_properties(style.check PROPERTIES LABELS style TIMEOUT 60)
# Once a week: headers that the sources of their names include first, as well.
add_test(NAME style.every_header_alone CONFIGURATIONS tidy
  COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/check.py headers_alone --root ${PROJECT_SOURCE_DIR} ${style_includes})
set_tests_properties(style.every_header_alone PROPERTIES
  LABELS tidy SKIP_RETURN_CODE 77 TIMEOUT 3600 ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER};TALLY_EVERY_HEADER=1")
