// `tally doctor`: which program this is, and what there is to run on.
#include <filesystem>
#include <iostream>

#include "oracle/fixed_point/product.hpp"
#include "reports/command_line/check/answers.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/part.hpp"

namespace tally::command_line::doctor_command {
namespace {

void print_program() {
  std::cout << "tally     " TALLY_VERSION ", " << (tree().empty() ? "of no repository" : "commit " + tree()) << "\n";
  std::cout << "installed " << installation_of(std::filesystem::canonical("/proc/self/exe")) << "\n";
  std::cout << "compiler  " TALLY_COMPILER ", " TALLY_FLAGS "\n";
  std::cout << "oracle    matrix products by " << oracle::fixed::name_of(oracle::fixed::fastest_route()) << "\n";
}

Action bind(CLI::App& command) {
  std::vector<Action> further;
  for (const PartRecord* each : all_records<PartRecord>())
    if (each->examination) further.push_back(each->examination(command));
  return [further] {
    print_program();
    for (const Action& each : further)
      if (const int code = each(); code != pass) return code;
    return int{pass};
  };
}

const RegisterCommand registered{{
    .place = 510,
    .name = "doctor",
    .help = "show what this machine can run",
    .bind = bind,
}};

}  // namespace
}  // namespace tally::command_line::doctor_command
