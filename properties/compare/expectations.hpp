// What the end-to-end lens expects of a run, for laws that compare two runs and for the drift figures of a report.
#pragma once

#include <map>
#include <string>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "oracle/tolerance/expected.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// (v, e) of every tap that the end-to-end lens holds, by tap name.
std::map<std::string, oracle::Expected> end_to_end_expectations(const Case& c, const Trace& trace);

/// Two runs A and F of a subject: |A - F - (v_A - v_F)| <= e_A + e_F, each v with its own decisions. Lens "relation";
/// vacuous where the bounds together exceed the larger value.
TensorCheck relation_check(const std::string& tap, const std::string& stage, const oracle::Expected& expected_a,
                           const Tensor& a, const oracle::Expected& expected_f, const Tensor& f);

/// Two lengths in the first window's unscaled gradient, all parameters together, relative to ||v||_2: the subject's
/// distance to the exact gradient, and the bound's length. 0 where that window was skipped.
struct GradientDrift {
  double rounding = 0, bound = 0;
};
GradientDrift gradient_drift(const Case& c, const Trace& trace,
                             const std::map<std::string, oracle::Expected>& expectations);

/// ||accumulated - full batch||_2 / ||full batch||_2 of the first window's gradient, both exact (long double). What is
/// below 2^-50 is the evaluation's own rounding: 0.
double semantic_gap(const Case& c);

}  // namespace tally
