// The commands that run a case, or a campaign's cases, again on what they ran on. Every word that a shell would take
// apart is quoted.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace tally {

/// " --subject host --fault extra-times-k --magnitude 0.25 --kernel matmul=tiled": of what ran, all that a token leaves
/// open. Each option has a space before it.
std::string subject_options(const Environment& ran);

/// "./tally replay TOKEN", or the path of a kept case file for the token; empty without one.
std::string replay_command(const std::string& token);
/// The case under its law, on what the campaign ran on; empty without a case.
std::string replay_command(const CaseRecord& c, const Environment& ran);
/// The case that caught a fault, under its law and with as much of the bug; empty without a case.
std::string replay_command(const FaultRecord& fault, const Environment& ran);

}  // namespace tally
