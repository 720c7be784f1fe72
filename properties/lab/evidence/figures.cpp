// What the evidence has to show for the tolerances to stand, figure by figure, and by stratum of ordinary networks.
#include <algorithm>
#include <cstdio>

#include "properties/lab/evidence/table_rows.hpp"
#include "properties/lab/evidence/tables.hpp"
#include "properties/lab/statistics.hpp"

namespace tally {

const std::vector<TestedAssumption>& tested_assumptions() {
  static const std::vector<TestedAssumption> all{
      {"size", "statistical lens", "a bias that all elements share grows as the root of their number"},
      {"size", "elementwise", "stages of 10^7 elements, each of them predicted or its worst case counted"},
      {"size", "order of addition", "long sums, split as kernels split them"},
      {"input", "statistical lens", "0, 1 and grey values: many products share their significand"},
      {"input", "rounding", "one-hot rows: sums of one addend, exact zeros"},
      {"initial values", "statistical lens", "constant weights: a whole tensor rounds alike"},
      {"initial values", "variance", "equal features: a variance that is rounding alone"},
      {"structure", "variance", "means and deviations of real activations, widths up to 10^3"},
      {"structure", "1 / square root", "the same, backward"},
      {"activation", "exp, log, tanh, erf", "arguments as they come"},
      {"linear layers", "decisions", "depth: intervals that leave ReLU masks open"},
      {"formats", "storage", "16-bit activations over several layers"},
      {"formats", "gradient buffer", "buffers narrower than products"},
      {"formats", "master", "small steps of large numbers"},
      {"formats", "GEMM", "TF32 operands and fp16 accumulators"},
      {"loss", "softmax", "logits as initial values leave them"},
      {"optimizer", "constants", "betas, corrections and rates as PyTorch's defaults have them"},
      {"optimizer", "elementwise", "products by a constant; first steps of Adam, all ± the rate: bits are predicted"},
      {"clip", "order of addition", "norms over all parameters"},
      {"loss scale", "decisions", "GradScaler's 65536: windows that overflow and are skipped"},
      {"micro-batches", "divisor", "1/K and 1/N, exact and not"},
      {"windows", "gradient buffer", "what one window leaves to the next"},
  };
  return all;
}

namespace {

void put_verdicts(TableRows& rows, const Stratum& s) {
  rows.count("networks", s.cases).count("checks", s.checks).count("with an alarm", s.alarmed);
  rows.number("at most % (95 %)", 100 * clopper_pearson_upper(s.alarmed, s.cases));
  rows.count("refused", s.refused).number("at most, % (95 %)", 100 * clopper_pearson_upper(s.refused, s.cases));
}

void put_nearness(TableRows& rows, const Stratum& s) {
  rows.number("r median", s.ratios.quantile(0.5)).number("r worst", s.worst);
  rows.number("least likely finding, log10", s.least_chance);
}

StudyTable by_size(const Strata& strata) {
  TableRows rows(
      "Ordinary networks by size",
      "Widths of hidden layers; \"true\" counts elements of a weight. Refused: a vacuous verdict on a network "
      "that has gradients.");
  for (const std::string& size : strata.next({"ordinary", "size"})) {
    for (const std::string& precision : strata.next({"ordinary", "size", size})) {
      const Stratum s = strata.sum({"ordinary", "size", size, precision});
      rows.word("size", size).word("precision", precision);
      put_verdicts(rows, s);
      put_nearness(rows, s);
    }
  }
  return std::move(rows).table();
}

StudyTable by_structure(const Strata& strata) {
  TableRows rows("Ordinary networks by what they are made of",
                 "Each network stands in one row of every stratum. Upper limits are Clopper and Pearson's.");
  for (const std::string& trait : strata.next({"ordinary"})) {
    if (trait == "all" || trait == "size") continue;
    for (const std::string& value : strata.next({"ordinary", trait})) {
      const Stratum s = strata.sum({"ordinary", trait, value});
      rows.word("stratum", trait).word("of", value);
      put_verdicts(rows, s);
      put_nearness(rows, s);
    }
  }
  return std::move(rows).table();
}

StudyTable by_part_of_strata(const Strata& strata) {
  TableRows rows("Ordinary networks by part and size, local lens",
                 "A false model of rounding errors shows where the least likely finding falls with the size.");
  for (const std::string& size : strata.next({"ordinary stage"})) {
    for (const std::string& part : strata.next({"ordinary stage", size})) {
      const Stratum s = strata.sum({"ordinary stage", size, part});
      rows.word("size", size).word("part", part).count("networks", s.cases).count("checks", s.checks);
      rows.count("with an alarm", s.alarmed).count("elements", s.ratios.count());
      put_nearness(rows, s);
    }
  }
  return std::move(rows).table();
}

StudyTable assumptions() {
  TableRows rows("Which assumption a stratum tests", "Names as in the ledger of every report.");
  for (const TestedAssumption& tested : tested_assumptions()) {
    rows.word("stratum", tested.stratum).word("assumption", tested.assumption).word("how", tested.how);
  }
  return std::move(rows).table();
}

}  // namespace

Stratum ordinary_networks(const Strata& strata) { return strata.sum({"ordinary", "all"}); }

std::vector<StudyTable> ordinary_tables(const Strata& strata) {
  return {by_size(strata), by_structure(strata), by_part_of_strata(strata), assumptions()};
}

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
