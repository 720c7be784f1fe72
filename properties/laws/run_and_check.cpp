#include "properties/laws/run_and_check.hpp"

#include <vector>

#include "kernels/training_step/kernel_clock.hpp"
#include "kernels/training_step/own_step.hpp"
#include "properties/laws/judge_grouped.hpp"

namespace tally {

CheckedRun::CheckedRun() = default;
CheckedRun::CheckedRun(const CheckedRun&) = default;
CheckedRun::CheckedRun(CheckedRun&&) noexcept = default;
CheckedRun& CheckedRun::operator=(const CheckedRun&) = default;
CheckedRun& CheckedRun::operator=(CheckedRun&&) noexcept = default;
CheckedRun::~CheckedRun() = default;
namespace {

thread_local std::vector<RunObserver*> watching;

}  // namespace

RunObserver::RunObserver() { watching.push_back(this); }
RunObserver::~RunObserver() { std::erase(watching, this); }

CheckedRun run_and_check(const Case& c, const RunOptions& options) {
  CheckedRun checked;
  const LaunchScope launches;
  const KernelClock clock;
  try {
    checked.trace = run(c, options);
  } catch (const NotSupported& reason) {
    checked.outcome.status = Status::not_run;
    checked.outcome.message = reason.what();
    return checked;
  }
  checked.paths = launches.paths();
  checked.seconds = clock.seconds();
  // A step of a user's own need not tap all: taps may miss where a later one shows what came of them.
  const bool whole = own_step(options) == nullptr || !checked.trace.groups.empty();
  checked.outcome = judge_grouped(c, checked.trace, whole ? Grouping::declared : Grouping::inferred);
  for (RunObserver* observer : watching) observer->see_run(c, checked);
  return checked;
}

void tell_launches(ExecutorKind executor, const std::set<LaunchPath>& paths) {
  for (RunObserver* observer : watching) observer->see_launches(executor, paths);
}

void tell_trigger(std::string_view name) {
  for (RunObserver* observer : watching) observer->see_trigger(name);
}

}  // namespace tally
