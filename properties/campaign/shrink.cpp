#include "properties/campaign/shrink.hpp"

#include <functional>

#include "oracle/case/io.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/compare/lens.hpp"
#include "properties/generators/rounder_values.hpp"
#include "properties/generators/simpler_plans.hpp"

namespace tally {
namespace {

constexpr int plan_attempts = 600, value_attempts = 1500;

class Shrinker {
 public:
  Shrinker(const Law& law, const Plan& plan, const Outcome& failing, const Subject& subject)
      : law_(law), subject_(subject), signature_(signature_of(failing)), plan_(plan) {
    best_ = {case_of(plan), failing, 0};
  }

  ShrunkCase run() {
    while (best_.attempts < plan_attempts && smaller_plan()) {
    }
    if (signature_.lens == "local" || subject_.stages != nullptr) {
      with_rounder_values(best_.c, value_attempts, [this](const Case& c) { return fails_alike(c); });
    }
    return std::move(best_);
  }

 private:
  /// Takes one step to a smaller plan; false when none fails alike.
  bool smaller_plan() {
    for (Plan& plan : simpler_plans(plan_)) {
      if (best_.attempts >= plan_attempts) return false;
      if (law_.shape) law_.shape(plan);
      Case c;
      try {
        c = case_of(plan);
      } catch (const std::logic_error&) {
        continue;  // too small to be a case at all
      }
      if (c == best_.c || !is_smaller(c) || !fails_alike(c)) continue;
      plan_ = std::move(plan);
      return true;
    }
    return false;
  }

  /// A law's shape may give back what a step took away: without this the search would go in circles.
  bool is_smaller(const Case& c) const { return write_case(c).size() < write_case(best_.c).size(); }

  bool fails_alike(const Case& c) {
    ++best_.attempts;
    Outcome outcome = outcome_of(law_, c, subject_);
    if (!(signature_of(outcome) == signature_)) return false;
    if (signature_.lens != "local" && subject_.stages != nullptr && !shipped_stages_pass(c)) return false;
    best_.c = c;
    best_.outcome = std::move(outcome);
    return true;
  }

  bool shipped_stages_pass(const Case& c) const {
    Subject shipped = subject_;
    shipped.stages = nullptr;
    const Status status = outcome_of(law_, c, shipped).status;
    return status == Status::pass || status == Status::vacuous;
  }

  const Law& law_;
  const Subject& subject_;
  const FailureSignature signature_;
  Plan plan_;
  ShrunkCase best_;
};

}  // namespace

FailureSignature signature_of(const Outcome& outcome) {
  FailureSignature signature;
  signature.status = outcome.status;
  if (outcome.status == Status::error)
    signature.stage = outcome.message.substr(0, outcome.message.find_first_of("0123456789"));
  if (outcome.status != Status::fail) return signature;
  if (const TensorCheck* failure = first_failure(outcome.checks)) {
    signature.failure = failure->failure;
    signature.lens = failure->lens;
    signature.stage = failure->stage;
  }
  if (!outcome.suspects.empty()) signature.suspect = outcome.suspects.front().name;
  return signature;
}

ShrunkCase shrunk(const Law& law, const Plan& plan, const Outcome& failing, const Subject& subject) {
  return Shrinker(law, plan, failing, subject).run();
}

}  // namespace tally
