#include "reports/text/replay.hpp"

#include "reports/record/json_text.hpp"
#include "reports/text/shell.hpp"

namespace tally {
namespace {

std::string option(const char* name, const std::string& value) {
  return value.empty() ? "" : std::string(" ") + name + " " + shell_word(value);
}

std::string planted(const std::string& fault, double magnitude) {
  if (fault.empty()) return "";
  return option("--fault", fault) + (magnitude == 1 ? "" : option("--magnitude", json_of_number(magnitude).dump()));
}

}  // namespace

std::string subject_options(const Environment& ran) {
  std::string options = option("--subject", ran.executor) + planted(ran.fault, ran.magnitude);
  for (const std::string& kernel : ran.kernels) options += option("--kernel", kernel);
  return options;
}

std::string replay_command(const std::string& token) {
  return token.empty() ? "" : "./tally replay " + shell_word(token);
}

std::string replay_command(const CaseRecord& c, const Environment& ran) {
  const std::string command = replay_command(c.token);
  return command.empty() ? "" : command + option("--law", c.law) + subject_options(ran);
}

std::string replay_command(const FaultRecord& fault, const Environment& ran) {
  const std::string command = replay_command(fault.token);
  if (command.empty()) return "";
  return command + option("--law", fault.law) + option("--subject", ran.executor) +
         planted(fault.name, fault.magnitude);
}

}  // namespace tally
