// `tally schema`: the JSON Schema of case files.
#include <iostream>

#include "oracle/case/io.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"

namespace tally::command_line::schema_command {
namespace {

int print_schema() {
  std::cout << json_schema();
  return pass;
}

const RegisterCommand registered{{
    .place = 148,
    .name = "schema",
    .help = "print the JSON Schema of case files",
    .bind = [](CLI::App&) -> Action { return print_schema; },
}};

}  // namespace
}  // namespace tally::command_line::schema_command
