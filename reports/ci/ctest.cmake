# Shards of a campaign as ctest tests, and its report as their fixture's clean-up: ctest runs that after a shard failed,
# was skipped or crashed, and adds it to every selection of shards. Then the page says which shard is missing.
#
#   include(reports/ci/ctest.cmake)
#   tally_add_campaign(NAME kernels PROGRAM /usr/bin/tally SHARDS 4 OUT ${CMAKE_BINARY_DIR}/kernels ARGUMENTS --law "*")
function(tally_add_campaign)
  cmake_parse_arguments(PARSE_ARGV 0 campaign "" "NAME;PROGRAM;SHARDS;OUT" "ARGUMENTS")
  foreach(argument NAME PROGRAM SHARDS OUT)
    if(NOT campaign_${argument})
      message(FATAL_ERROR "tally_add_campaign: ${argument} is missing")
    endif()
  endforeach()
  if(campaign_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tally_add_campaign: unknown arguments ${campaign_UNPARSED_ARGUMENTS}")
  endif()
  set(name ${campaign_NAME})
  add_test(NAME ${name}.clear COMMAND ${CMAKE_COMMAND} -E rm -rf ${campaign_OUT})
  set_tests_properties(${name}.clear PROPERTIES FIXTURES_SETUP ${name})
  foreach(shard RANGE 1 ${campaign_SHARDS})
    add_test(NAME ${name}.${shard} COMMAND ${campaign_PROGRAM} verify --shard ${shard}/${campaign_SHARDS}
      --out ${campaign_OUT}/shards/${shard} ${campaign_ARGUMENTS})
    set_tests_properties(${name}.${shard} PROPERTIES FIXTURES_REQUIRED ${name} SKIP_RETURN_CODE 77)
  endforeach()
  add_test(NAME ${name}.report COMMAND sh -c "exec \"$0\" merge --out \"$1\" \"$1\"/shards/*/results.json"
    ${campaign_PROGRAM} ${campaign_OUT})
  set_tests_properties(${name}.report PROPERTIES FIXTURES_CLEANUP ${name})
endfunction()
