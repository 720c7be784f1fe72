// The evidence that the tolerances are right: no false alarm, no slack that hides a fault, no way found over a bound.
#include "properties/studies/evidence/tables.hpp"

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

const RegisterStudy registered{{
    .family = "bench",
    .name = "tolerances",
    .question = "Are the tolerances right: does no clean case raise an alarm, and how close do errors come to them?",
    .run = run,
}};

}  // namespace
}  // namespace tally::tolerances_study
