#include "properties/compare/promised_bits.hpp"

#include <algorithm>
#include <string_view>

#include "kernels/trace/stage_place.hpp"

namespace tally {
namespace {

bool took(const Trace& trace, std::string_view stage) {
  return std::any_of(trace.taps().begin(), trace.taps().end(), [&](const Tap& tap) { return tap.name.stage == stage; });
}

}  // namespace

PromisedBits::PromisedBits(const Trace& trace) {
  for (const auto& [operation, claim] : trace.claims.kernels) {
    if (claim.repeats == Repeats::bitwise || (operation == "norm" && !took(trace, "norm"))) continue;
    without_ += (without_.empty() ? "" : ", ") + operation + " by " + claim.variant;
    const bool of_backward = operation == "attention.backward" || operation == "embedding.gradient";
    bool& promise = operation == "linear.bias_gradient" ? bias_gradients_
                    : of_backward                       ? backward_
                    : operation == "norm"               ? norm_
                    : operation == "reduce"             ? sums_
                                                        : others_;
    promise = false;
  }
  // Sums of each micro-batch go into `accumulate`, statistics of all ranks into the layer behind them.
  first_of_sums_ = took(trace, "sync_statistics") ? "forward" : "accumulate";
  // A clip by norm takes every gradient in.
  if (!(bias_gradients_ && backward_) && took(trace, "norm")) norm_ = false;
}

bool PromisedBits::of(const TapName& tap) const {
  if (without_.empty()) return true;
  if (!others_ || tap.window > 0) return false;
  const std::ptrdiff_t place = place_of_stage(tap.stage);
  if (!sums_ && place >= place_of_stage(first_of_sums_)) return false;
  if (!backward_ && place >= place_of_stage("backward")) return false;
  if (!norm_ && place >= place_of_stage("norm")) return false;
  if (bias_gradients_ || place < place_of_stage("backward")) return true;
  // Beyond the gradients of one parameter: whether any of them overflowed, and what follows from that.
  const bool of_all = tap.stage == "overflow_check" || tap.stage == "scaler" || tap.stage == "schedule";
  return !of_all && !tap.tensor.ends_with(".bias");
}

}  // namespace tally
