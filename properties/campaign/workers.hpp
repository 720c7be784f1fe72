// Runs numbered jobs in forked processes: a crash in one is an answer, not the end of the campaign.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace tally {

/// answers[i] is what `job(i)` returned in its process, or starts with "crash: " and the signal. Jobs are handed out in
/// order; `done(i)` is called in this process as answers come. With one process everything runs here, without forking.
/// When `interrupted` is set, by a handler of SIGTERM that the jobs inherit, jobs under way are sent that signal once:
/// whoever stopped this process alone, by its number, means them too.
std::vector<std::string> run_in_processes(std::size_t jobs, int processes,
                                          const std::function<std::string(std::size_t)>& job,
                                          const std::function<void(std::size_t)>& done,
                                          const std::atomic<bool>* interrupted = nullptr);

/// Ends this job at once with that answer, from any thread. Where the job was not forked, ends the program with code 3
/// and `message` on the standard error stream.
[[noreturn]] void leave_job(const std::string& answer, const std::string& message);

}  // namespace tally
