// Runs numbered jobs in forked processes: a crash in one is an answer, not the end of the campaign.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "properties/campaign/worker_pool.hpp"

namespace tally {

/// In place of a number of processes: jobs run here, one after another, without forking.
inline constexpr int in_this_process = 0;
/// Processes that are to run jobs on this executor. What a GPU's driver keeps does not survive a fork.
inline int processes_for(ExecutorKind executor, int asked) {
  return executor == ExecutorKind::cuda ? in_this_process : asked;
}

/// answers[i] is what `job(i)` returned in its process, or starts with "crash: " and says what ended it: a signal, an
/// exit or an exception. Jobs are handed out in order; `done(i)` is called in this process as answers come. One process
/// is forked too: one job at a time. None outlives this process.
/// When `interrupted` is set, by a handler of SIGTERM that the jobs inherit, jobs under way are sent that signal once:
/// whoever stopped this process alone, by its number, means them too. No other begins: its answer stays empty.
/// With `again`, a job whose process died is run once more by that, a few times where it must (rescue.hpp).
std::vector<std::string> run_in_processes(std::size_t jobs, int processes,
                                          const std::function<std::string(std::size_t)>& job,
                                          const std::function<void(std::size_t)>& done,
                                          const std::atomic<bool>* interrupted = nullptr,
                                          const std::function<std::string(std::size_t, const Death&)>& again = {});

}  // namespace tally
