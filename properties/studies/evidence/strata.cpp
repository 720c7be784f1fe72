#include "properties/studies/evidence/strata.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace tally {
namespace {

bool begins_like(const Labels& labels, const Labels& beginning) {
  return labels.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), labels.begin());
}

}  // namespace

/// Of equal ratios the one found first, in the order of cases and taps' names.
void Stratum::see_worst(double r, std::uint64_t number, const std::string& tap) {
  if (!(r > worst) && !(r == worst && std::tie(number, tap) < std::tie(worst_case, worst_tap))) return;
  worst = r;
  worst_case = number;
  worst_tap = tap;
}

void Stratum::merge(const Stratum& other) {
  cases += other.cases;
  alarmed += other.alarmed;
  refused += other.refused;
  checks += other.checks;
  alarms += other.alarms;
  vacuous += other.vacuous;
  not_run += other.not_run;
  judged += other.judged;
  ratios.merge(other.ratios);
  least_chance = std::min(least_chance, other.least_chance);
  if (other.worst > 0) see_worst(other.worst, other.worst_case, other.worst_tap);
}

void Strata::merge(const Strata& other) {
  for (const auto& [labels, stratum] : other.strata_) strata_[labels].merge(stratum);
}

Stratum Strata::sum(const Labels& beginning) const {
  Stratum whole;
  for (const auto& [labels, stratum] : strata_) {
    if (begins_like(labels, beginning)) whole.merge(stratum);
  }
  return whole;
}

std::vector<std::string> Strata::parts(const std::string& lens) const {
  std::set<std::string> found;
  for (const auto& [labels, stratum] : strata_) {
    if (labels.size() == 4 && labels[0] == "stage" && labels[1] == lens) found.insert(labels[3]);
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> Strata::next(const Labels& beginning) const {
  std::set<std::string> found;
  for (const auto& [labels, stratum] : strata_) {
    if (labels.size() > beginning.size() && begins_like(labels, beginning)) found.insert(labels[beginning.size()]);
  }
  return {found.begin(), found.end()};
}

}  // namespace tally
