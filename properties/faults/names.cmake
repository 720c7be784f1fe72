# Writes OUT: name, known bug and laws of every fault, as the files listed in FILES register them.
file(STRINGS ${FILES} files)
set(rows "")
foreach(file IN LISTS files)
  file(READ ${file} text)
  while(text MATCHES "const RegisterFault ")
    string(FIND "${text}" "const RegisterFault " at)
    math(EXPR at "${at} + 20")
    string(SUBSTRING "${text}" ${at} -1 text)
    string(FIND "${text}" "\n}}" end)
    string(SUBSTRING "${text}" 0 ${end} record)
    string(REGEX MATCH "\\.name = (\"[^\"]+\")" found "${record}")
    set(name ${CMAKE_MATCH_1})
    set(bug ${name})
    if(record MATCHES "\\.bug = (\"[^\"]+\")")
      set(bug ${CMAKE_MATCH_1})
    endif()
    string(REGEX MATCH "\\.laws = {([^}]+)}" found "${record}")
    list(APPEND rows "      {${name}, ${bug}, {${CMAKE_MATCH_1}}},")
  endwhile()
endforeach()
list(SORT rows)
list(JOIN rows "\n" rows)
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT "// Made by CMake.
#include \"properties/faults/fault_names.hpp\"

namespace tally {

const std::vector<FaultName>& fault_names() {
  static const std::vector<FaultName> all{
${rows}
  };
  return all;
}

}  // namespace tally
")
