#include "properties/studies/evidence/counts.hpp"

#include <algorithm>

#include "properties/studies/evidence/clean_case.hpp"
#include "properties/studies/evidence/part.hpp"

namespace tally {
namespace {

std::string part_of_check(const Case& c, const TensorCheck& check) {
  return check.lens == "machine" ? check.stage : part_of(c, tap_name_of(check.tap));
}

}  // namespace

void count(Stratum& stratum, const TensorCheck& check, std::uint64_t number) {
  ++stratum.checks;
  stratum.alarms += check.status == Status::fail || check.status == Status::error;
  stratum.vacuous += check.status == Status::vacuous && !check.zero_signal;
  stratum.not_run += check.status == Status::not_run;
  const bool handed_over = check.tap.find("/in.") != std::string::npos;
  stratum.judged += !handed_over && !check.zero_signal && check.status != Status::not_run;
  stratum.see_worst(check.worst_ratio, number, check.tap);
  stratum.least_chance = std::min(stratum.least_chance, check.spread.log10_chance);
}

ByPart counted(const Case& c, const EvidenceRun& held, std::uint64_t number) {
  ByPart parts;
  for (const TensorCheck& check : held.checks) count(parts[{check.lens, part_of_check(c, check)}], check, number);
  for (const auto& [place, ratios] : held.ratios) parts[place].ratios.merge(ratios);
  return parts;
}

void count_alarms(Strata& strata, const std::string& among, const Case& c, const EvidenceRun& held,
                  std::uint64_t number) {
  std::string token;
  for (const TensorCheck& check : held.checks) {
    if (check.status != Status::fail && check.status != Status::error) continue;
    if (token.empty()) token = replay_token(c);
    count(strata.at({"alarm", among, check.lens, check.tap, token}), check, number);
  }
  if (!held.refusal.empty()) strata.at({"refusal", among, std::to_string(number), held.refusal, replay_token(c)});
}

void settle_cases(Strata& strata, const EvidenceRun& held) {
  for (const auto& [labels, stratum] : strata.all()) {
    strata.at(labels).cases = 1;
    strata.at(labels).alarmed = stratum.alarms > 0;
    strata.at(labels).refused = !held.refusal.empty();
  }
}

}  // namespace tally
