// What `tally explain` says of a cause that `tally vary` names.
#include <iostream>

#include "properties/vary/causes.hpp"
#include "reports/command_line/check/explained.hpp"

namespace tally::command_line::explained_vary {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const VaryCause& cause : vary_causes()) all.push_back(cause.name);
  return all;
}

bool explain(const std::string& name) {
  for (const VaryCause& cause : vary_causes()) {
    if (cause.name != name) continue;
    std::cout << "cause " << cause.name << " of tally vary: " << filled_in(cause.what, {}) << "\n"
              << "change: " << filled_in(cause.change, {}) << "\n";
    if (!cause.factor.empty()) std::cout << "a row of micro-batch k weighs too much by " << cause.factor << "\n";
    return true;
  }
  return false;
}

const RegisterExplained registered({50, names, explain});

}  // namespace
}  // namespace tally::command_line::explained_vary
