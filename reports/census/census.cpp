#include "reports/census/census.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace tally {
namespace {

std::size_t index_of(Status status) { return static_cast<std::size_t>(status); }

/// Wider formats come first.
std::pair<int, std::string> rank_of(const std::string& precision) {
  static const std::vector<std::string> known = {"fp64", "fp32", "tf32", "fp16", "bf16"};
  const auto found = std::find(known.begin(), known.end(), precision);
  return {static_cast<int>(found - known.begin()), precision};
}

int severity_of(Status status) {
  switch (status) {
    case Status::fail:
      return 0;
    case Status::error:
      return 1;
    case Status::pass:
      return 2;
    case Status::vacuous:
      return 3;
    case Status::not_run:
      break;
  }
  return 4;
}

void add(CaseGroup& group, const CaseRecord& c) {
  ++group.cases[index_of(c.status)];
  ++group.total;
  group.checks += c.checks;
  group.vacuous_checks += c.vacuous_checks;
  if (!was_judged(c.status)) return;
  if (!group.worst || ratio_is_worse(ratio_of(c), group.worst_ratio)) group.worst_ratio = ratio_of(c);
  if (!group.worst || is_worse(c, *group.worst)) group.worst = &c;
}

}  // namespace

double ratio_of(const CaseRecord& c) {
  return ratio_is_worse(c.worst_end_to_end_ratio, c.worst_local_ratio) ? c.worst_end_to_end_ratio : c.worst_local_ratio;
}

bool ratio_is_worse(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

bool was_judged(Status status) { return status == Status::pass || status == Status::fail; }

bool is_worse(const CaseRecord& a, const CaseRecord& b) {
  const int left = severity_of(a.status), right = severity_of(b.status);
  if (left != right) return left < right;
  if (ratio_is_worse(ratio_of(a), ratio_of(b))) return true;
  if (ratio_is_worse(ratio_of(b), ratio_of(a))) return false;
  return std::tie(a.id, a.law, a.precision, a.title) < std::tie(b.id, b.law, b.precision, b.title);
}

Status CaseGroup::status() const {
  for (const Status s : {Status::fail, Status::error, Status::pass, Status::vacuous})
    if (cases[index_of(s)] > 0) return s;
  return Status::not_run;
}

Census census_of(const Results& results) {
  Census census;
  for (const CaseRecord& c : results.cases) {
    ++census.cases[index_of(c.status)];
    census.checks += c.checks;
    census.vacuous_checks += c.vacuous_checks;
    census.zero_signal_checks += c.zero_signal_checks;
    if (c.status == Status::fail || c.status == Status::pass)
      if (!census.worst || is_worse(c, *census.worst)) census.worst = &c;
  }
  census.total = results.cases.size();
  for (const TrainingRecord& t : results.training) {
    census.checks += t.checks;
    census.trainings_failed += t.status == Status::fail;
  }
  for (const LawRecord& law : results.laws) {
    census.laws_that_ran += law.cases > law.not_run;
    census.controls_missing += control_is_missing(law);
  }
  for (const FaultRecord& fault : results.faults) census.faults_missed += !fault.caught;
  return census;
}

std::vector<CaseGroup> groups_of(const Results& results) {
  std::map<std::pair<std::string, std::pair<int, std::string>>, CaseGroup> groups;
  for (const CaseRecord& c : results.cases) {
    CaseGroup& group = groups[{c.law, rank_of(c.precision)}];
    group.law = c.law, group.precision = c.precision;
    add(group, c);
  }
  std::vector<CaseGroup> out;
  for (auto& [key, group] : groups) out.push_back(std::move(group));
  return out;
}

std::vector<std::string> precisions_of(const Results& results) {
  std::vector<std::string> out;
  for (const CaseRecord& c : results.cases) out.push_back(c.precision);
  for (const TrainingRecord& t : results.training) out.push_back(t.precision);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return rank_of(a) < rank_of(b); });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<const CaseRecord*> by_severity(const Results& results) {
  std::vector<const CaseRecord*> out;
  for (const CaseRecord& c : results.cases) out.push_back(&c);
  std::stable_sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return is_worse(*a, *b); });
  return out;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end(), [](double a, double b) { return ratio_is_worse(b, a); });
  return *middle;
}

double worst_of(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end(), ratio_is_worse);
}

}  // namespace tally
