#include "properties/faults/fault_names.hpp"

#include <algorithm>
#include <set>

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

std::vector<std::string> faults_planting(std::string_view bug) {
  std::vector<std::string> names;
  for (const FaultName& fault : fault_names())
    if (fault.bug == bug) names.push_back(fault.name);
  return names;
}

std::vector<std::string> broken_laws() {
  std::set<std::string> names;
  for (const FaultName& fault : fault_names()) names.insert(fault.laws.begin(), fault.laws.end());
  return {names.begin(), names.end()};
}

}  // namespace tally
