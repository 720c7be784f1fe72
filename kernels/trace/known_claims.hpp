// Claims of a subject that says the same of every case.
#pragma once

#include <string>

#include "oracle/layers/claim.hpp"

namespace tally {

/// claims_of_json(), without reading again what this thread read last.
Claims known_claims(const std::string& json);

}  // namespace tally
