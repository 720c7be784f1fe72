#include "properties/studies/evidence/figures.hpp"

#include <algorithm>
#include <cstdio>

#include "properties/studies/clopper_pearson.hpp"
#include "properties/studies/evidence/ordinary_tables.hpp"

namespace tally {
namespace {

constexpr double least_median_ratio = 0.001;
constexpr double least_informative_share = 0.95;

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Below 1 as many digits as it takes to tell it from 1.
std::string ratio_text(double r) {
  char text[32];
  for (int digits = 3; digits < 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, r);
    if (r >= 1 || std::string(text) != "1") break;
  }
  return text;
}

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

double informative_share(const Stratum& gradients) {
  if (gradients.judged == 0) return 0;
  return static_cast<double>(gradients.judged - gradients.vacuous) / static_cast<double>(gradients.judged);
}

double steepest(const Climbs& climbs) {
  double best = 0;
  for (const auto& [place, climb] : climbs) best = std::max(best, climb.best);
  return best;
}

Stratum local(const Strata& strata) { return strata.sum({"precision", "local"}); }

}  // namespace

Stratum hard_cases(const GatheredEvidence& evidence) { return evidence.strata.sum({"hard"}); }

Stratum demanded_gradients(const Strata& strata) {
  Stratum both = strata.sum({"gradient", "fp32", "1", "8 or more"});
  both.merge(strata.sum({"gradient", "fp32", "2", "8 or more"}));
  return both;
}

std::vector<Figure> figures_of(const GatheredEvidence& evidence) {
  const Stratum clean = evidence.strata.sum({"all"}), hard = hard_cases(evidence);
  const Stratum ordinary = ordinary_networks(evidence.strata);
  const double median = local(evidence.strata).ratios.quantile(0.5);
  const Stratum gradients = demanded_gradients(evidence.strata);
  const double share = informative_share(gradients), best = steepest(evidence.climbs);
  const std::uint64_t missed = clean.not_run + ordinary.not_run + hard.not_run + evidence.problems.size();
  return {
      {"false alarms in clean cases", "0", grouped(clean.alarmed) + " of " + grouped(clean.cases),
       clean.cases > 0 && clean.alarmed == 0},
      {"false refusals of clean cases", "0", grouped(clean.refused) + " of " + grouped(clean.cases),
       clean.cases > 0 && clean.refused == 0},
      {"false alarms in ordinary networks", "0", grouped(ordinary.alarmed) + " of " + grouped(ordinary.cases),
       ordinary.cases > 0 && ordinary.alarmed == 0},
      {"refusals of ordinary networks", "0", grouped(ordinary.refused) + " of " + grouped(ordinary.cases),
       ordinary.cases > 0 && ordinary.refused == 0},
      {"alarms in hard cases", "0", grouped(hard.alarms) + " of " + grouped(hard.checks) + " checks",
       hard.checks > 0 && hard.alarms == 0},
      {"checks that could not be made", "0", grouped(missed), missed == 0},
      {"worst r of a clean case", "below 1", ratio_text(clean.worst), clean.worst > 0 && clean.worst < 1},
      {"median local r", "at least " + short_number(least_median_ratio), short_number(median),
       median >= least_median_ratio},
      {"gradients held end to end", "at least " + short_number(100 * least_informative_share) + " %",
       gradients.judged == 0 ? "none drawn" : short_number(100 * share) + " %", share >= least_informative_share,
       gradients.judged > 0},
      {"best r of the search", "at most 1", ratio_text(best), best > 0 && best <= 1},
  };
}

std::string answer_of(const GatheredEvidence& evidence) {
  const Stratum clean = evidence.strata.sum({"all"});
  const Stratum ordinary = ordinary_networks(evidence.strata);
  const RatioHistogram ratios = local(evidence.strata).ratios;
  return grouped(clean.alarmed) + " false alarms in " + grouped(clean.cases) + " clean cases (below " +
         short_number(100 * clopper_pearson_upper(clean.alarmed, clean.cases)) + " % at 95 % confidence), " +
         grouped(ordinary.alarmed) + " in " + grouped(ordinary.cases) + " ordinary networks with " +
         grouped(ordinary.refused) + " refused, " + grouped(hard_cases(evidence).alarms) +
         " in the hard ones. Elements stand at r = " + short_number(ratios.quantile(0.5)) + " in the median and " +
         ratio_text(clean.worst) + " at worst; the search reached " + ratio_text(steepest(evidence.climbs)) +
         ". The end-to-end bound says something of " +
         short_number(100 * informative_share(demanded_gradients(evidence.strata))) +
         " % of the first window's gradients (fp32, up to two linear layers, eight items or more).";
}

}  // namespace tally
