// What `tally explain` says of a law.
#include <iostream>

#include "properties/faults/fault_names.hpp"
#include "properties/laws/law.hpp"
#include "reports/command_line/check/explained.hpp"

namespace tally::command_line::explained_laws {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Law* law : laws()) all.push_back(law->name);
  return all;
}

bool explain(const std::string& name) {
  const Law* law = find_law(name);
  if (law == nullptr) return false;
  std::cout << "law " << law->name << " [" << law->family << "]: " << law->statement << "\n"
            << "control: " << law->control << "\n"
            << "faults that break it: " << listed_or_none(faults_of(law->name)) << "\n"
            << "run it: ./tally verify --law " << law->name << "\n";
  return true;
}

const RegisterExplained registered({10, names, explain});

}  // namespace
}  // namespace tally::command_line::explained_laws
