// Names of the seeded faults, for programs that do not hold them. Made from the faults' files when the program is built
// (names.cmake); a test holds them against the faults.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tally {

struct FaultName {
  std::string name, bug;          // and of the known bug that it plants, should there be one
  std::vector<std::string> laws;  // that it breaks, best first
};

/// Sorted by name.
const std::vector<FaultName>& fault_names();
bool is_fault(std::string_view name);

/// Names of the faults that break this law, which faults alone say: first those whose best law it is, then by name.
std::vector<std::string> faults_of(std::string_view law);

/// Names of the faults that plant this known bug, sorted.
std::vector<std::string> faults_planting(std::string_view bug);

/// Names of the laws that a fault breaks, sorted: of all laws, since a fault breaks each.
std::vector<std::string> broken_laws();

}  // namespace tally
