// What each stage of a run adds by its own rounding, on its own input bits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

struct StageRounding {
  double worst_ratio = 0;     // r = error / bound of the worst element
  double ulps = 0;            // error of that element, in units in the last place of its format
  double relative_error = 0;  // ‖error‖₂ / ‖exact‖₂ of the stage's worst tensor
};

/// The stages that compute, in the order a window passes them.
const std::vector<std::string>& rounding_stages();

/// By stage. From the local lens; for the stages that it predicts bit by bit (cast, accumulate, unscale) the rounding
/// of that one operation, measured from the inputs that the trace holds, with r = error / (half an ulp). Checks that
/// are vacuous or without a signal are left out.
std::map<std::string, StageRounding> stage_roundings(const Trace& trace, const std::vector<TensorCheck>& local);

/// |error| in units in the last place of `value` in a float format; subnormals have the least one.
double in_ulps(double error, double value, Dtype format);

}  // namespace tally
