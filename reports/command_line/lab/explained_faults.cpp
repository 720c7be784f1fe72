// What `tally explain` says of a seeded fault.
#include <iostream>

#include "properties/diagnosis/remedy.hpp"
#include "properties/diagnosis/suspect.hpp"
#include "properties/faults/fault.hpp"
#include "reports/command_line/check/explained.hpp"

namespace tally::command_line::explained_faults {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Fault* fault : faults()) all.push_back(fault->name);
  return all;
}

bool explain(const std::string& name) {
  const Fault* fault = find_fault(name);
  if (fault == nullptr) return false;
  std::vector<std::string> standing;
  for (const Suspect* suspect : suspects())
    if (stands_for(*suspect, fault->name)) standing.push_back(suspect->name);
  std::cout << "fault " << fault->name << ", planted in " << fault->stage << ": " << fault->right << "  ->  "
            << fault->wrong << "\n"
            << "shows with: " << fault->condition << "\n"
            << "modelled on: " << fault->source << "\n"
            << "knob: " << fault->knob << "\n"
            << "laws that catch it: " << listed_or_none(fault->laws) << "\n"
            << "suspect: " << listed_or_none(standing) << "\n"
            << (standing.empty() ? "" : "what to change: " + remedy_of(standing.front()) + "\n")
            << "run it: ./tally faults " << fault->name << "\n";
  return true;
}

const RegisterExplained registered({20, names, explain});

}  // namespace
}  // namespace tally::command_line::explained_faults
