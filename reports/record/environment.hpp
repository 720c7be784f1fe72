// What a run was made with.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tally {

struct Environment {
  std::string tally_version, executor, device, compiler, flags, cuda, blas;  // no clock, host, path or user
  std::vector<std::pair<std::string, std::string>> ledger;                   // assumption, what holds here
};

}  // namespace tally
