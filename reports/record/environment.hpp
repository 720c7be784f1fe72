// What a run was made with.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tally {

struct Environment {
  std::string tally_version, executor, device, compiler, flags, cuda, blas;  // no clock, host, path or user
  std::vector<std::pair<std::string, std::string>> ledger;                   // assumption, what holds here

  // What was asked to run in place of the kernels as shipped; tokens of cases do not carry it.
  std::string fault = {};                 // seeded; empty: none
  double magnitude = 1;                   // how much of the fault
  std::vector<std::string> kernels = {};  // operation=variant
};

}  // namespace tally
