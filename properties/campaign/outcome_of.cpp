// What a law says of one case, of one that its process died of, and of the cases of its control.
#include <cmath>

#include "kernels/device/device.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/law.hpp"

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

namespace {

constexpr const char* hang = "hang";  // in the place of a stage

std::string limit_of(double seconds) {
  return std::to_string(std::lround(seconds)) + " s (./tally verify --case-time)";
}

}  // namespace

Outcome outcome_of_death(const Death& death, const std::string& doing) {
  Outcome outcome;
  outcome.message = "the process that ran " + doing + " was ended by " + death.how;
  outcome.status = death.from_outside ? Status::error : Status::fail;
  if (!death.from_outside) require(outcome, false, "process", "kernel", outcome.message);
  return outcome;
}

CaseRecord undrawn_case(const Law& law, Dtype storage, const Death& death) {
  CaseRecord record;
  record.law = law.name;
  record.precision = name_of(storage);
  record.id = record.title = law.name + " " + record.precision + ", a case that was being drawn";
  record.status = Status::error;
  record.message = "the process that drew a case was ended by " + death.how;
  return record;
}

Outcome outcome_of_failed_step(const StepFailed& failed) {
  Outcome outcome;
  outcome.message = std::string("the training step left no trace: ") + failed.what();
  const bool is_error = failed.why() == StepFailed::Why::too_slow || failed.why() == StepFailed::Why::from_outside;
  outcome.status = is_error ? Status::error : Status::fail;
  const bool hung = failed.why() == StepFailed::Why::hung;
  if (!is_error) require(outcome, false, "step", hung ? hang : "process", outcome.message);
  return outcome;
}

Outcome outcome_of_slow_case(double seconds) {
  Outcome outcome;
  outcome.status = Status::error;
  outcome.message = "the case took longer than " + limit_of(seconds);
  return outcome;
}

std::string not_made_smaller(double times, double seconds) {
  return "; not made smaller, as that took longer than " + std::to_string(std::lround(times)) + " times " +
         limit_of(seconds);
}

bool took_all_its_time(const Outcome& outcome) {
  if (outcome.status == Status::error) return true;
  const TensorCheck* const failure = first_failure(outcome.checks);
  return failure != nullptr && failure->lens == "relation" && failure->stage == hang;
}

namespace {

constexpr int most_tried = 8;
constexpr int most_declined = 32;  // by a step of a user's own, and not counted among those

}  // namespace

bool ControlTrials::wanted() const {
  return law_.differs != nullptr && !differed_ && tried_ < most_tried && declined_ < most_declined;
}

std::optional<Outcome> ControlTrials::try_on(const Case& c) {
  try {
    ++tried_;
    differed_ = law_.differs(c, subject_);
    ++run_;
  } catch (const StepFailed& failed) {
    return outcome_of_failed_step(failed);
  } catch (const NotSupported&) {
    if (own_step(subject_) == nullptr) return std::nullopt;
    ++declined_;
    --tried_;
  }
  return std::nullopt;
}

}  // namespace tally
