#include "kernels/device/device.hpp"
#include "kernels/training_step/own_step.hpp"
#include "properties/campaign/dead_case.hpp"
#include "properties/campaign/law_task.hpp"

namespace tally {

Outcome outcome_of(const Law& law, const Case& c, const RunOptions& subject) {
  try {
    const std::uint64_t before = own_runs();
    Outcome outcome = law.holds(c, subject);
    if (own_step(subject) == nullptr || own_runs() != before || outcome.status == Status::not_run) return outcome;
    require_tallys_kernels(subject, "what the law looks at");
    return outcome;
  } catch (const NotSupported& reason) {
    Outcome outcome;
    outcome.status = Status::not_run;
    outcome.message = reason.what();
    return outcome;
  } catch (const StepFailed& failed) {
    return outcome_of_failed_step(failed);
  } catch (const DeviceAbsent&) {
    throw;
  } catch (const std::exception& problem) {
    Outcome outcome;
    outcome.status = Status::error;
    outcome.message = problem.what();
    return outcome;
  }
}

}  // namespace tally
