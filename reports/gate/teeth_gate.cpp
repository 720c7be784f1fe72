#include <algorithm>

#include "reports/gate/rules.hpp"

namespace tally {

using Kind = GateFinding::Kind;

void teeth_gate(const Results& results, const Baseline& blessed, Findings& out) {
  const Machine machine = machine_of(results);
  std::vector<BlessedFault> before;
  for (const BlessedFault& fault : blessed.faults)
    if (blessed.blessing(fault.blessing).machine == machine) before.push_back(fault);
  const auto was_blessed = [&before](const std::string& name) {
    return std::any_of(before.begin(), before.end(), [&name](const BlessedFault& f) { return f.name == name; });
  };
  for (const BlessedFault& fault : before) {
    const bool caught = std::any_of(results.faults.begin(), results.faults.end(),
                                    [&fault](const FaultRecord& f) { return f.caught && f.name == fault.name; });
    if (!caught)
      out.push_back(
          {Kind::failed, "teeth", fault.name, "was caught by " + fault.law + " and is not caught now", "lost"});
  }
  for (const FaultRecord& fault : results.faults) {
    if (was_blessed(fault.name)) continue;
    if (fault.caught) {
      out.push_back({Kind::fresh, "teeth", fault.name, "new: nobody has blessed it", "fault"});
    } else {
      out.push_back({Kind::failed, "teeth", fault.name, "got away", "lost"});
    }
  }
}

}  // namespace tally
