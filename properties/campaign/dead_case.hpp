// What is said of a case that its process died of.
#pragma once

#include <string>

#include "kernels/training_step/own_step.hpp"
#include "properties/campaign/rescue.hpp"
#include "properties/laws/law.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// `doing` is what ran: "it", "its control". Wrong, unless somebody else ended the process: that is an error.
Outcome outcome_of_death(const Death& death, const std::string& doing);

/// The record of a process that died before there was a case: an error that blames none.
CaseRecord undrawn_case(const Law& law, Dtype storage, const Death& death);

/// The outcome of a user's own step that left no trace: an error where it was too slow, or ended by somebody else.
Outcome outcome_of_failed_step(const StepFailed& failed);

/// The outcome of a case that took longer than so many seconds; and what is added to a failure that was not made
/// smaller, as that took longer than `times` of these limits.
Outcome outcome_of_slow_case(double seconds);
std::string not_made_smaller(double times, double seconds);

/// Whether such a step took its whole time, which another try would take again.
bool took_all_its_time(const Outcome& outcome);

}  // namespace tally
