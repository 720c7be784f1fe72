// What a law comes to, from the records of its cases.
#pragma once

#include "reports/record/record.hpp"

namespace tally {

/// Sorts the cases by law and precision, and counts and settles every law from its cases; `control_differs` and
/// `partial` must stand: in a part of a run the control may be yet to come.
void settle_laws(Results& results);

}  // namespace tally
