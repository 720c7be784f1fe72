#include "properties/compare/two_runs.hpp"

#include <cmath>

#include "oracle/case/ranks.hpp"
#include "oracle/graph/layer_view.hpp"
#include "oracle/window/trajectory.hpp"
#include "properties/compare/expectations.hpp"
#include "properties/compare/judge.hpp"
#include "properties/compare/ranks_of_trace.hpp"

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

}  // namespace tally
