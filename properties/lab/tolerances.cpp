// The evidence that the tolerances are right, and how much of their bounds right kernels use.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/device/device.hpp"
#include "properties/lab/evidence/case_strata.hpp"
#include "properties/lab/evidence/gather.hpp"
#include "properties/lab/evidence/tables.hpp"
#include "properties/lab/study.hpp"

// The evidence that the tolerances are right: no false alarm, no slack that hides a fault, no way found over a bound.
namespace tally::tolerances_study {
namespace {

std::string missed(const GatheredEvidence& evidence) {
  std::string message;
  for (const Figure& figure : figures_of(evidence)) {
    if (figure.met) continue;
    message +=
        (message.empty() ? "" : "; ") + figure.name + ": demanded " + figure.demanded + ", found " + figure.found;
  }
  if (!evidence.problems.empty()) message += "; first problem: " + evidence.problems.front();
  return message;
}

/// What could not be seen shows nothing; anything else that is missed fails.
Status status_of(const GatheredEvidence& evidence) {
  Status status = evidence.problems.empty() ? Status::pass : Status::fail;
  for (const Figure& figure : figures_of(evidence)) {
    if (!figure.met && figure.seen) return Status::fail;
    if (!figure.met && status == Status::pass) status = Status::vacuous;
  }
  return status;
}

Study run(const StudyOptions& options) {
  const GatheredEvidence evidence = gather_evidence(EvidencePlan::of(options.effort), options);
  Study study;
  study.device = name_of(options.subject.executor);
  study.tables = evidence_tables(evidence);
  study.plots = evidence_plots(evidence);
  study.answer = answer_of(evidence);
  study.message = missed(evidence);
  study.status = status_of(evidence);
  study.notes = {
      "Bounds follow from what kernels declare (oracle/tolerance.md); nothing here feeds back into them.",
      "r = error / bound of one element; only elements whose bound and error are not zero are in a distribution, and "
      "quantiles are the lower edges of bins an eighth of an octave wide.",
      "A worst r next to 1 is no accident: where a bound is one rounding, an error of half an ulp uses all of it. "
      "Medians "
      "tell slack.",
      "Clean cases: the campaign's plans in fp32, fp16 and bf16 in turn, one in four with micro-batches of 8 to 16 "
      "rows; "
      "orders of additions and of threads are drawn in every second case each, kernels among their shipped variants.",
      "Ordinary networks: PyTorch's initial values, inputs, recipes and sizes, nothing chosen to hurt; "
      "31 of 50 small, 13 medium, 4 large, 2 of true size, in fp32, fp16 and bf16 in turn; "
      "of 400 one has stages of 10^7 elements.",
      "A refusal is a vacuous verdict on a case whose run has a gradient that is not zero: the program would say that "
      "nothing was shown.",
      "Without an alarm in n cases, fewer than about 3/n of all cases drawn like these would raise one, at 95 % "
      "confidence (Clopper-Pearson); of cases drawn otherwise this says nothing, the hard cases and the search do.",
      "The search starts from clean and hard cases in turn, changes bits, signs and magnitudes of single inputs, whole "
      "tensors and orders, and keeps what does "
      "not "
      "lower the worst local r of a part.",
  };
  return study;
}

const Register<StudyRunner> registered{{
    .family = "bench",
    .name = "tolerances",
    .question = "Are the tolerances right: does no clean case raise an alarm, and how close do errors come to them?",
    .run = run,
}};

}  // namespace
}  // namespace tally::tolerances_study

// How much of their bounds right kernels use: what the page's ranks are read from.
namespace tally::excess_study {
namespace {

constexpr double clean_cases = 9000, ordinary_networks = 600;

std::uint64_t scaled(double number, double effort) {
  return static_cast<std::uint64_t>(std::max(1LL, std::llround(number * effort)));
}

Study run(const StudyOptions& options) {
  const EvidencePlan plan{.clean_cases = scaled(clean_cases, options.effort),
                          .ordinary_networks = scaled(ordinary_networks, options.effort),
                          .law_effort = options.effort,
                          .hard_cases = 0,
                          .climbs = 0,
                          .steps = 0};
  const GatheredEvidence evidence = gather_evidence(plan, options);
  Study study;
  study.device = name_of(options.subject.executor);
  study.tables = {excess_of(evidence.strata, "all"), excess_of(evidence.strata)};
  const Stratum all = evidence.strata.sum({"excess", "all"});
  const auto beyond =
      static_cast<double>(all.ratios.count()) / static_cast<double>(std::max<std::uint64_t>(all.judged, 1));
  study.answer = nlohmann::json(std::round(1000 * beyond) / 10).dump() + " % of " + std::to_string(all.judged) +
                 " tensors of right kernels err by more than their last rounding; the most that one uses of its bound "
                 "beyond it is " +
                 nlohmann::json(std::floor(1000 * all.worst) / 1000).dump() + ".";
  study.status = evidence.problems.empty() ? Status::pass : Status::fail;
  if (!evidence.problems.empty()) study.message = "first problem: " + evidence.problems.front();
  study.notes = {
      std::to_string(plan.clean_cases) + " clean cases and " + std::to_string(plan.ordinary_networks) +
          " ordinary networks, drawn as those of tally bench tolerances are, and the cases of a campaign that is not "
          "steered; each tensor by the local lens.",
      "Quantiles are the lower edges of bins an eighth of an octave wide.",
      "reports/excess.md says what the excess is and what is ranked by it."};
  return study;
}

const Register<StudyRunner> registered{{
    .family = "bench",
    .name = "excess",
    .question = "How much of their bounds do right kernels use beyond the last rounding?",
    .run = run,
}};

}  // namespace
}  // namespace tally::excess_study
