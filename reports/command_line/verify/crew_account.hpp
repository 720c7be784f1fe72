// What a crew's notes say of its ranks, for people.
#pragma once

#include <optional>
#include <string>

#include "kernels/subjects/process/guarded_process.hpp"
#include "kernels/training_step/own_step.hpp"
#include "reports/command_line/verify/crew_board.hpp"

namespace tally::command_line {

/// Who waits for whom, from this rank on: "rank 0 waits for w0/reduce from rank 2, which is stopped, behind the tap …".
std::string who_waits(const CrewBoard& board, int rank);

/// "hang: …", or "deadlock: …" where those that wait wait for each other; `waited`: how long this rank did.
std::string account_of_hang(const CrewBoard& board, int rank, const std::string& waited);

/// Why a crew left no trace of a case: a rank's end, what a rank said of a hang, or that of the launcher. `limit` and
/// `ended` are as StepWitness::failure() has them; the processes may still be there.
StepFailed failure_of_crew(const CrewBoard& board, const std::string& launcher,
                           const std::optional<GuardedProcess::Ended>& ended, const std::string& limit);

}  // namespace tally::command_line
