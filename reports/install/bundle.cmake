# Run when the component `wheel` is installed. Copies the library that the program opens, and all that it needs but the C
# library, by the names that they ask each other for; and the licenses of those and of what is linked into the program,
# where Debian's packages say them.
set(to $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/tally_program)
file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${opened} RESOLVED_DEPENDENCIES_VAR needed
  POST_EXCLUDE_REGEXES "/(ld-linux[^/]*|libc|libm|libpthread|libdl|librt)[.]so[^/]*$")
file(MAKE_DIRECTORY ${to}/lib ${to}/licenses)
foreach(library IN LISTS opened needed)
  file(REAL_PATH ${library} file)
  execute_process(COMMAND objdump -p ${file} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  if(NOT headers MATCHES "SONAME +([^\n ]+)")
    message(FATAL_ERROR "${library} says no SONAME; expected a shared library")
  endif()
  message(STATUS "Bundling: ${CMAKE_MATCH_1}")
  file(COPY_FILE ${file} ${to}/lib/${CMAKE_MATCH_1})
endforeach()
foreach(library IN LISTS opened needed linked)
  file(REAL_PATH ${library} file)
  string(REGEX MATCH "[^/]+/[^/]+$" name ${file})  # /lib may be /usr/lib
  set(package "")
  execute_process(COMMAND dpkg -S */${name} OUTPUT_VARIABLE package ERROR_QUIET RESULT_VARIABLE unknown)
  string(REGEX MATCH "^[^:, \n]+" package "${package}")
  if(package AND EXISTS /usr/share/doc/${package}/copyright)
    configure_file(/usr/share/doc/${package}/copyright ${to}/licenses/${package} COPYONLY)
  endif()
endforeach()
