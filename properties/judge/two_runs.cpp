// Two runs held against each other by what is expected of each.
#include "properties/judge/two_runs.hpp"

#include <cmath>

#include "oracle/case/ranks.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/graph/layer_view.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/judge/verdict.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {
namespace {

constexpr double exact_resolution = 0x1p-50;  // of the exact evaluation in long double

using Expectations = std::map<std::string, oracle::Expected>;

/// The name of a window's tap. The first rank stands for all: they hold alike what is compared.
std::string of_window(const Case& c, int window, const std::string& stage, const std::string& tensor) {
  return TapName{window, -1, stage, tensor, c.dealt.empty() ? -1 : 0}.text();
}

bool skipped(const Case& c, const Trace& trace, int window) {
  const Tensor* found = trace.find(TapName{window, -1, in_ranks(c) ? "agree" : "overflow_check", "found"}.view());
  return found != nullptr && found->integer(0) != 0;
}

TensorCheck parted_here(const Case& c, int window) {
  TensorCheck check = not_run({"relation", of_window(c, window, "overflow_check", "found"), "overflow_check"});
  check.status = Status::vacuous;
  check.elements = 1;
  return check;
}

/// Each run's expectations, and the runs as one rank has them.
struct Sides {
  const Expectations &expected_a, &expected_f;
  const Trace &a, &f;
  const Case &case_a, &case_f;
};

void compare_tensor(TwoRuns& found, const Sides& sides, int window, const std::string& stage,
                    const std::string& tensor) {
  const std::string tap = of_window(sides.case_a, window, stage, tensor),
                    other = of_window(sides.case_f, window, stage, tensor);
  const TapName alone{window, -1, stage, tensor};
  const Tensor *a = sides.a.find(alone.view()), *f = sides.f.find(alone.view());
  const auto expected_a = sides.expected_a.find(tap), expected_f = sides.expected_f.find(other);
  const bool expected = expected_a != sides.expected_a.end() && expected_f != sides.expected_f.end();
  if (a == nullptr || f == nullptr || !expected) return;
  found.checks.push_back(relation_check(tap, stage, expected_a->second, *a, expected_f->second, *f));
}

/// NaN and infinities decide nothing: 0 then.
double decision_drift_of(const Case& c, const Sides& sides) {
  const auto before = oracle::initial_state<long double>(c);
  const auto apart = oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, before);
  const auto whole = oracle::evaluate_window<long double>(c, 0, oracle::Branch::full_batch, before);
  long double drift = 0, size = 0;
  for (const auto& [name, gradient] : whole.grad) {
    const auto a = sides.expected_a.find(of_window(sides.case_a, 0, "unscale", "d." + name)),
               f = sides.expected_f.find(of_window(sides.case_f, 0, "unscale", "d." + name));
    if (a == sides.expected_a.end() || f == sides.expected_f.end()) return 0;
    drift += ((a->second.v - f->second.v) - (apart.grad.at(name) - gradient)).squaredNorm();
    size += gradient.squaredNorm();
  }
  const auto relative = static_cast<double>(std::sqrt(drift / size));
  return relative >= exact_resolution && std::isfinite(relative) ? relative : 0;
}

}  // namespace

TwoRuns compare_runs(const Case& accumulated, const Trace& a, const Case& full_batch, const Trace& f) {
  const Expectations expected_a = end_to_end_expectations(accumulated, a);
  const Expectations expected_f = end_to_end_expectations(full_batch, f);
  const Trace first_a = of_first_rank(accumulated, a), first_f = of_first_rank(full_batch, f);
  const Sides sides{expected_a, expected_f, first_a, first_f, accumulated, full_batch};
  TwoRuns found;
  for (int w = 0; w < static_cast<int>(accumulated.windows.size()); ++w) {
    if (skipped(accumulated, first_a, w) != skipped(full_batch, first_f, w)) {
      found.checks.push_back(parted_here(accumulated, w));
      break;
    }
    for (const std::string& p : parameters_of(accumulated.model)) {
      compare_tensor(found, sides, w, "unscale", "d." + p);
    }
    for (const std::string& p : parameters_of(accumulated.model)) {
      compare_tensor(found, sides, w, "optimizer", p);
    }
  }
  found.decision_drift = decision_drift_of(accumulated, sides);
  return found;
}

namespace {

constexpr double resolution = 0x1p-50;

double ratio_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

namespace {

/// Adds the expectations of one generation, from what the one before left behind.
void add_ranks(const RanksOfTrace& ranks, LeftBehind* between, std::map<std::string, oracle::Expected>& all) {
  std::deque<Walk> walks;
  std::vector<std::map<std::string, oracle::Expected>> kept(ranks.count());
  for (std::size_t rank = 0; rank < ranks.count(); ++rank)
    walks.emplace_back(ranks.parts[rank], ranks.traces[rank], Lens::end_to_end).expected = &kept[rank];
  walk_ranks(walks, between);
  for (std::size_t rank = 0; rank < ranks.count(); ++rank)
    for (auto& [tap, expected] : kept[rank]) all.emplace(ranks.name_in_whole(tap, rank), std::move(expected));
}

std::map<std::string, oracle::Expected> of_all_ranks(const Case& c, const Trace& trace) {
  const GenerationsOfTrace generations(c, trace);
  std::map<std::string, oracle::Expected> all;
  LeftBehind between;
  for (const RanksOfTrace& ranks : generations.all)
    add_ranks(ranks, generations.all.size() > 1 ? &between : nullptr, all);
  return all;
}

}  // namespace

std::map<std::string, oracle::Expected> end_to_end_expectations(const Case& c, const Trace& trace) {
  if (in_ranks(c) && c.whole == nullptr) return of_all_ranks(c, trace);
  std::map<std::string, oracle::Expected> kept;
  Walk walk(c, trace, Lens::end_to_end);
  walk.expected = &kept;
  walk_all(walk);
  return kept;
}

TensorCheck relation_check(const std::string& tap, const std::string& stage, const oracle::Expected& expected_a,
                           const Tensor& a, const oracle::Expected& expected_f, const Tensor& f) {
  const Place place{"relation", tap, stage};
  const auto size = static_cast<std::size_t>(expected_a.v.size());
  const bool same_size = a.elements() == size && f.elements() == size && expected_f.v.size() == expected_a.v.size();
  // Judged as A against F + (v_A - v_F): the same difference, and A's own census.
  oracle::Expected shifted{expected_a.v, expected_a.e};
  if (!same_size) return judge(place, oracle::Expected{}, a);
  for (Eigen::Index i = 0; i < shifted.v.size(); ++i) {
    shifted.v.data()[i] += f.value(static_cast<std::size_t>(i)) - expected_f.v.data()[i];
    shifted.e.data()[i] += expected_f.e.data()[i];
    if (!std::isfinite(shifted.v.data()[i])) shifted.e.data()[i] = std::numeric_limits<double>::infinity();
  }
  return judge(place, shifted, a);
}

GradientDrift gradient_drift(const Case& c, const Trace& trace,
                             const std::map<std::string, oracle::Expected>& expectations) {
  double error = 0, bound = 0, value = 0;
  for (const std::string& p : parameters_of(c.model)) {
    const std::string tap = TapName{0, -1, "unscale", "d." + p}.text();
    const auto expected = expectations.find(tap);
    const Tensor* got = trace.find(tap);
    if (expected == expectations.end() || got == nullptr) return {};
    for (Eigen::Index i = 0; i < expected->second.v.size(); ++i) {
      const auto v = static_cast<double>(expected->second.v.data()[i]);
      const double e = expected->second.e.data()[i];
      const auto off = static_cast<double>(got->value(static_cast<std::size_t>(i)) - expected->second.v.data()[i]);
      error += off * off;
      bound += e * e;
      value += v * v;
    }
  }
  return {ratio_of(std::sqrt(error), std::sqrt(value)), ratio_of(std::sqrt(bound), std::sqrt(value))};
}

double semantic_gap(const Case& c) {
  const auto before = oracle::initial_state<long double>(c);
  const auto apart = oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, before);
  const auto whole = oracle::evaluate_window<long double>(c, 0, oracle::Branch::full_batch, before);
  long double gap = 0, size = 0;
  for (const auto& [name, gradient] : whole.grad) {
    gap += (apart.grad.at(name) - gradient).squaredNorm();
    size += gradient.squaredNorm();
  }
  const double relative = ratio_of(static_cast<double>(std::sqrt(gap)), static_cast<double>(std::sqrt(size)));
  return relative < resolution ? 0 : relative;
}

std::optional<CapturedDrift> first_gradient_drift(const std::vector<TensorCheck>& checks) {
  double expected = 0, error = 0, bound = 0;
  for (const TensorCheck& check : checks) {
    if (check.lens != "end_to_end" || !check.tap.starts_with("w0/unscale/d.")) continue;
    expected += check.norm_expected * check.norm_expected;
    error += check.norm_error * check.norm_error;
    bound += check.norm_bound * check.norm_bound;
  }
  if (!(expected > 0)) return std::nullopt;
  return CapturedDrift{std::sqrt(error / expected), std::sqrt(bound / expected)};
}

}  // namespace tally
