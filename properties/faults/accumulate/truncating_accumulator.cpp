// The buffer's additions round toward zero: the error grows with K, not with its root.
#include <cmath>

#include "properties/faults/planted_accumulate.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::truncating_accumulator_fault {
namespace {

/// The fp32 number next to the exact sum on the side of zero.
double truncated(double sum) {
  const auto nearest = static_cast<float>(sum);
  const bool over = std::fabs(static_cast<double>(nearest)) > std::fabs(sum);
  return static_cast<double>(over ? std::nextafter(nearest, 0.0f) : nearest);
}

void accumulate(Run& run) {
  accumulate_by(
      run, [](double buffer, double gradient) { return truncated(buffer + gradient); }, Mix::elements);
}

const RegisterFault registered{{
    .name = "truncating-accumulator",
    .stage = "accumulate",
    .right = "round to nearest",
    .wrong = "round toward zero",
    .condition = "K > 1; like signs",
    .knob = "elements",
    .source = "cutlass 1188: bits that an accumulator drops silently",
    .laws = {"many_micro_batches_stay_bounded", "like_addends_drift_slowly"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::truncating_accumulator_fault
