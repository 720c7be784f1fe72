#include "properties/compare/two_runs.hpp"

#include <cmath>

#include "oracle/window/trajectory.hpp"
#include "properties/compare/expectations.hpp"
#include "properties/compare/judge.hpp"
#include "properties/compare/layer_view.hpp"

namespace tally {
namespace {

constexpr double resolution = 0x1p-50;  // of the exact evaluation in long double

using Expectations = std::map<std::string, oracle::Expected>;

std::string of_window(int window, const std::string& stage, const std::string& tensor) {
  return TapName{window, -1, stage, tensor}.text();
}

bool skipped(const Trace& trace, int window) {
  const Tensor* found = trace.find(of_window(window, "overflow_check", "found"));
  return found != nullptr && found->integer(0) != 0;
}

TensorCheck parted_here(int window) {
  TensorCheck check = not_run({"relation", of_window(window, "overflow_check", "found"), "overflow_check"});
  check.status = Status::vacuous;
  check.elements = 1;
  return check;
}

/// Each run's expectations, and the runs.
struct Sides {
  const Expectations &expected_a, &expected_f;
  const Trace &a, &f;
};

void compare_tensor(TwoRuns& found, const Sides& sides, const std::string& stage, const std::string& tap) {
  const Tensor *a = sides.a.find(tap), *f = sides.f.find(tap);
  const auto expected_a = sides.expected_a.find(tap), expected_f = sides.expected_f.find(tap);
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
    const std::string tap = of_window(0, "unscale", "d." + name);
    const auto a = sides.expected_a.find(tap), f = sides.expected_f.find(tap);
    if (a == sides.expected_a.end() || f == sides.expected_f.end()) return 0;
    drift += ((a->second.v - f->second.v) - (apart.grad.at(name) - gradient)).squaredNorm();
    size += gradient.squaredNorm();
  }
  const auto relative = static_cast<double>(std::sqrt(drift / size));
  return relative >= resolution && std::isfinite(relative) ? relative : 0;
}

}  // namespace

TwoRuns compare_runs(const Case& accumulated, const Trace& a, const Case& full_batch, const Trace& f) {
  const Expectations expected_a = end_to_end_expectations(accumulated, a);
  const Expectations expected_f = end_to_end_expectations(full_batch, f);
  const Sides sides{expected_a, expected_f, a, f};
  TwoRuns found;
  for (int w = 0; w < static_cast<int>(accumulated.windows.size()); ++w) {
    if (skipped(a, w) != skipped(f, w)) {
      found.checks.push_back(parted_here(w));
      break;
    }
    for (const std::string& p : parameters_of(accumulated.model)) {
      compare_tensor(found, sides, "unscale", of_window(w, "unscale", "d." + p));
    }
    for (const std::string& p : parameters_of(accumulated.model)) {
      compare_tensor(found, sides, "optimizer", of_window(w, "optimizer", p));
    }
  }
  found.decision_drift = decision_drift_of(accumulated, sides);
  return found;
}

}  // namespace tally
