// A whole recording judged: its operations by several threads, and what came out by kind, module and phase. Defined in
// judged_recording.cpp.
#pragma once

#include <functional>

#include "properties/operations/judge_call.hpp"
#include "properties/operations/recording.hpp"

namespace tally {

/// `heard` is told the share of the recording that is read, now and then, by one thread at a time.
JudgedRecording judge(Recording& recording, const oracle::operations::Profile& profile, int threads,
                      const std::function<void(double)>& heard = {});

/// One operation alone, by its number. Throws std::runtime_error where the recording has none of it.
JudgedOperation judge_operation(Recording& recording, const oracle::operations::Profile& profile, std::int64_t number);

}  // namespace tally
