// At which stage a run broke off.
// Defined in violation_stage.cpp.
#pragma once

#include <string>
#include <string_view>

namespace tally {

/// The first stage of the earliest window in which a rank waits, where ranks wait for each other, or for one that has
/// left: "agree" of "deadlock: stage 0 waits for w1/agree of stages from stage 1, which has ended". The same for a
/// message that is of another size than awaited. "kernel" for everything else: a launch broke a rule of the machine.
std::string stage_of_violation(std::string_view violation);

}  // namespace tally
