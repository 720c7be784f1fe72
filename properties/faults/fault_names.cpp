#include "properties/faults/fault_names.hpp"

#include <algorithm>

namespace tally {

bool is_fault(std::string_view name) {
  return std::ranges::find(fault_names(), name, &FaultName::name) != fault_names().end();
}

std::vector<std::string> faults_of(std::string_view law) {
  std::vector<FaultName> breaking = fault_names();
  std::erase_if(breaking,
                [law](const FaultName& fault) { return std::ranges::find(fault.laws, law) == fault.laws.end(); });
  std::ranges::stable_partition(breaking, [law](const FaultName& fault) { return fault.laws.front() == law; });
  std::vector<std::string> names;
  for (const FaultName& fault : breaking) names.push_back(fault.name);
  return names;
}

}  // namespace tally
