// At which stage a run broke off.
// Defined in violation_stage.cpp.
#pragma once

#include <string>
#include <string_view>

namespace tally {

/// Of ranks that wait for each other, or for one that has left, the first stage of the earliest window that one of them
/// waits in: "agree" of "deadlock: stage 0 waits for w1/agree of stages from stage 1, which has ended". So of a message
/// that is of another size than awaited. "kernel" of everything else: a launch broke a rule of the machine.
std::string stage_of_violation(std::string_view violation);

}  // namespace tally
