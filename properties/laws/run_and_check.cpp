#include "properties/laws/run_and_check.hpp"

#include <vector>

#include "kernels/training_step/kernel_clock.hpp"

namespace tally {
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
  for (RunObserver* observer : watching) observer->see_run(c, checked);
  checked.outcome = judge(c, checked.trace);
  return checked;
}

void tell_launches(ExecutorKind executor, const std::set<LaunchPath>& paths) {
  for (RunObserver* observer : watching) observer->see_launches(executor, paths);
}

void tell_trigger(std::string_view name) {
  for (RunObserver* observer : watching) observer->see_trigger(name);
}

}  // namespace tally
