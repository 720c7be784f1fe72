// What the lab brings: what `tally list` prints of faults and studies, what `tally explain` says of a fault.
#include "reports/command_line/part.hpp"

#include <iostream>

#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/sentences.hpp"
#include "properties/faults/fault.hpp"
#include "properties/lab/study.hpp"
#include "reports/command_line/check/answers.hpp"

namespace tally::command_line::lab_part {
namespace {

void print_faults() {
  for (const Fault* fault : faults()) {
    std::cout << fault->name << "  [" << stage_of(*fault) << "]  " << fault->right << "  ->  " << wrong_of(*fault)
              << "  (knob: " << fault->knob << ")\n";
  }
}

void print_studies(const char* family) {
  for (const StudyRunner* study : studies(family)) std::cout << study->name << "  " << study->question << "\n";
}

std::vector<std::string> names_of_faults() {
  std::vector<std::string> all;
  for (const Fault* fault : faults()) all.push_back(fault->name);
  return all;
}

bool explain_fault(const std::string& name) {
  const Fault* fault = find_fault(name);
  if (fault == nullptr) return false;
  const Bug* bug = bug_of(*fault);
  std::cout << "fault " << fault->name << ", planted in " << stage_of(*fault) << ": " << fault->right << "  ->  "
            << wrong_of(*fault) << "\n"
            << "shows with: " << fault->condition << "\n"
            << "modelled on: " << fault->source << "\n"
            << "knob: " << fault->knob << "\n"
            << "laws that catch it: " << listed_or_none(fault->laws) << "\n"
            << "suspect: " << (bug == nullptr ? "none" : bug->name + "\nwhat to change: " + remedy_of(bug->name))
            << "\n"
            << "run it: ./tally faults " << fault->name << "\n";
  return true;
}

const Register<PartRecord> registered{{
    .part = Part::lab,
    .explained = {{20, names_of_faults, explain_fault}},
    .listed = {{"faults", print_faults},
               {"sweeps", [] { print_studies("sweep"); }},
               {"benches", [] { print_studies("bench"); }}},
}};

}  // namespace
}  // namespace tally::command_line::lab_part
