#include "properties/campaign/control_trials.hpp"

#include "kernels/training_step/own_step.hpp"
#include "properties/campaign/dead_case.hpp"

namespace tally {
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
