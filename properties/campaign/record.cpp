#include <algorithm>

#include "oracle/case/io.hpp"
#include "oracle/case/title.hpp"
#include "properties/campaign/campaign.hpp"
#include "properties/compare/bound_terms.hpp"
#include "properties/compare/gradient_drift.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/rank_rows.hpp"

namespace tally {
namespace {

constexpr std::size_t longest_token = 2048;

void take_counts(CaseRecord& record, const std::vector<TensorCheck>& checks) {
  for (const TensorCheck& check : checks) {
    ++record.checks;
    record.elements += check.elements;
    if (check.zero_signal) ++record.zero_signal_checks;
    if (check.status == Status::vacuous) ++record.vacuous_checks;
    record.adopted_share = std::max(record.adopted_share, check.adopted_share);
    record.comparisons += check.spread.comparisons;
    if (check.spread.log10_chance < record.least_log10_chance) {
      record.least_log10_chance = check.spread.log10_chance;
      record.least_likely = check.tap + ", " + check.spread.test;
    }
    if (check.status == Status::vacuous || check.status == Status::not_run) continue;
    const bool local = check.lens == "local" || check.lens == "group";
    if (!local && check.lens != "end_to_end") continue;
    double& ratio = local ? record.worst_local_ratio : record.worst_end_to_end_ratio;
    double& excess = local ? record.worst_local_excess : record.worst_end_to_end_excess;
    ratio = std::max(ratio, check.worst_ratio), excess = std::max(excess, check.excess);
  }
}

}  // namespace

CaseRecord record_of(const Case& c, const Law& law, const Outcome& outcome) {
  CaseRecord record;
  record.id = sha256(hash_of(c) + law.name).substr(0, 12);
  record.law = law.name;
  record.precision = name_of(c.precision.storage);
  record.title = title_of(c);
  record.formats = formats_of(c.precision);
  record.token = token_of(c);
  if (record.token.size() > longest_token) record.token.clear();
  for (const auto& window : c.windows) record.micro_batches = std::max(record.micro_batches, int(window.size()));
  record.status = outcome.status;
  record.message = outcome.message;
  record.semantic_gap = outcome.semantic_gap;
  record.decision_drift = outcome.decision_drift;
  take_counts(record, outcome.checks);
  if (const auto drift = first_gradient_drift(outcome.checks))
    record.rounding_drift = drift->rounding, record.drift_bound = drift->bound;
  if (const TensorCheck* failure = first_failure(outcome.checks)) {
    record.failure = failure->failure;
    record.first_stage = failure->stage;
  }
  if (outcome.status == Status::fail) {
    record.suspects = outcome.suspects;
    record.ranks = rank_rows(c, outcome.checks);
    const TensorCheck* first = record.ranks.empty() ? nullptr : first_failure(outcome.checks);
    if (first != nullptr) record.first_tap = first->tap;
  }
  for (const std::size_t i : worst_of(outcome.checks)) record.worst.push_back(outcome.checks[i]);
  return record;
}

}  // namespace tally
