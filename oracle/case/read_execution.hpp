// A case's "execution": how a subject is to run it.
#pragma once

#include "oracle/case/case.hpp"
#include "oracle/case/findings.hpp"
#include "oracle/case/json.hpp"

namespace tally {

/// The default where `json` is a null pointer. What is of another form becomes a finding.
Execution read_execution(const Json* json, Findings& findings);

}  // namespace tally
