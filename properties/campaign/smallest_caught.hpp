// How little of a seeded fault is still caught.
#pragma once

#include "properties/laws/law.hpp"

namespace tally {

/// The smallest magnitude 2^-e, e from 0 to 64, at which the case still breaks the law under the faulty subject: e
/// grows by fours until nothing is found, and the last four are bisected. The case breaks the law at magnitude 1.
double smallest_caught(const Law& law, const Case& failing, const Subject& faulty);

}  // namespace tally
