// Which assumption of the ledger each stratum of ordinary networks puts to the test.
#pragma once

#include <string>
#include <vector>

namespace tally {

struct TestedAssumption {
  std::string stratum;     // a trait of ordinary networks, or "size"
  std::string assumption;  // a name of oracle/tolerance/ledger.hpp
  std::string how;         // what about these cases would break it
};

const std::vector<TestedAssumption>& tested_assumptions();

}  // namespace tally
