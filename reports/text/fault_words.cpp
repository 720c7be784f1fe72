#include "reports/text/fault_words.hpp"

#include <cmath>

#include "reports/record/json_text.hpp"
#include "reports/text/words.hpp"

namespace tally {

std::string smallest_caught_word(const FaultRecord& fault) {
  const double smallest = fault.smallest_caught;
  if (!(smallest > 0)) return "\u2013";
  return smallest == 1 ? "1" : "2^" + std::to_string(std::ilogb(smallest));
}

std::string replay_command(const FaultRecord& fault) {
  std::string command = replay_command(fault.token);
  if (command.empty()) return "";
  if (!fault.law.empty()) command += " --law " + fault.law;
  command += " --fault " + fault.name;
  if (fault.magnitude != 1) command += " --magnitude " + json_of_number(fault.magnitude).dump();
  return command;
}

}  // namespace tally
