# Writes OUT: the commit of SOURCE, with "+" where files differ from it; empty outside a repository.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit ERROR_QUIET
  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE absent)
set(changed "")
if(absent)
  set(commit "")
else()
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(NOT changes STREQUAL "")
    set(changed "+")
  endif()
endif()
set(named "no repository")
if(NOT commit STREQUAL "")
  set(named "commit ${commit}${changed}")
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT "// Made by CMake.
#include \"reports/command_line/output.hpp\"

namespace tally::command_line {

const char build_mark[] = \"tally was built of [${named}]\";

std::string tree() { return \"${commit}${changed}\"; }

}  // namespace tally::command_line
")
