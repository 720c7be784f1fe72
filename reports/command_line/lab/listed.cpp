// What `tally list` prints of faults and studies.
#include "reports/command_line/verify/listed.hpp"

#include <iostream>

#include "properties/faults/fault.hpp"
#include "properties/studies/study.hpp"

namespace tally::command_line::lab_lists {
namespace {

void print_faults() {
  for (const Fault* fault : faults()) {
    std::cout << fault->name << "  [" << fault->stage << "]  " << fault->right << "  ->  " << fault->wrong
              << "  (knob: " << fault->knob << ")\n";
  }
}

void print_studies(const char* family) {
  for (const StudyRunner* study : studies(family)) std::cout << study->name << "  " << study->question << "\n";
}

const RegisterListed registered_faults("faults", print_faults);
const RegisterListed registered_sweeps("sweeps", [] { print_studies("sweep"); });
const RegisterListed registered_benches("benches", [] { print_studies("bench"); });

}  // namespace
}  // namespace tally::command_line::lab_lists
