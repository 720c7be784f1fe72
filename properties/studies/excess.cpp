// How much of their bounds right kernels use: what the page's ranks are read from.
#include "properties/studies/evidence/excess.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/device/device.hpp"
#include "properties/studies/evidence/gather.hpp"
#include "properties/studies/study.hpp"

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

const RegisterStudy registered{{
    .family = "bench",
    .name = "excess",
    .question = "How much of their bounds do right kernels use beyond the last rounding?",
    .run = run,
}};

}  // namespace
}  // namespace tally::excess_study
