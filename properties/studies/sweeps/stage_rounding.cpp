#include "properties/studies/sweeps/stage_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "oracle/tolerance/format.hpp"

namespace tally {
namespace {

/// Element i of the exact result of a predicted stage; nullptr inputs count as zero.
struct Operation {
  const Tensor* left = nullptr;
  const Tensor* right = nullptr;
  bool product = false;

  long double operator()(std::size_t i) const {
    const long double a = left->value(i);
    if (right == nullptr) return a;
    return product ? a * right->value(0) : a + right->value(i);
  }
};

std::string beside(const TapName& output, const std::string& tensor) {
  return TapName{output.window, output.micro_batch, output.stage, tensor}.text();
}

/// The operation that made a tap of cast, accumulate or unscale; no left operand for any other tap.
Operation operation_of(const Trace& trace, const TapName& output) {
  const std::string& tensor = output.tensor;
  if (tensor.starts_with("in.")) return {};
  if (output.stage == "cast") return {trace.find(beside(output, "in." + tensor))};
  if (output.stage == "accumulate" && tensor.starts_with("buffer.")) {
    const std::string parameter = tensor.substr(std::string("buffer.").size());
    return {trace.find(beside(output, "in.d." + parameter)), trace.find(beside(output, "in." + tensor))};
  }
  if (output.stage == "unscale" && tensor.starts_with("d.")) {
    return {trace.find(beside(output, "in.buffer." + tensor.substr(2))), trace.find(beside(output, "in.inverse_scale")),
            true};
  }
  return {};
}

void take(StageRounding& stage, double ratio, double ulps, double relative) {
  if (ratio > stage.worst_ratio) stage.worst_ratio = ratio, stage.ulps = ulps;
  if (relative > stage.relative_error) stage.relative_error = relative;
}

void measure(StageRounding& stage, const Tensor& got, const Operation& exact) {
  double worst = 0;
  long double errors = 0, values = 0;
  for (std::size_t i = 0; i < got.elements(); ++i) {
    const long double value = exact(i), error = std::fabs(got.value(i) - value);
    errors += error * error, values += value * value;
    worst = std::max(worst, in_ulps(static_cast<double>(error), static_cast<double>(value), got.dtype));
  }
  take(stage, 2 * worst, worst, values > 0 ? static_cast<double>(std::sqrt(errors / values)) : 0);
}

}  // namespace

const std::vector<std::string>& rounding_stages() {
  static const std::vector<std::string> stages{"cast",     "forward",    "running_stats", "loss",
                                               "backward", "accumulate", "unscale",       "optimizer"};
  return stages;
}

double in_ulps(double error, double value, Dtype format) {
  const oracle::Format shape = oracle::format_of(format);
  const int exponent = value == 0 ? shape.emin : std::max(std::ilogb(value), shape.emin);
  return error / std::ldexp(1.0, exponent - shape.p + 1);
}

std::map<std::string, StageRounding> stage_roundings(const Trace& trace, const std::vector<TensorCheck>& local) {
  std::map<std::string, StageRounding> stages;
  for (const TensorCheck& check : local) {
    const Tensor* got = trace.find(check.tap);
    const bool judged = check.lens == "local" && check.status == Status::pass && !check.zero_signal;
    if (!judged || got == nullptr || got->dtype == Dtype::i64 || got->dtype == Dtype::u8) continue;
    const double relative = check.norm_expected > 0 ? check.norm_error / check.norm_expected : 0;
    take(stages[check.stage], check.worst_ratio, in_ulps(check.error, check.expected, got->dtype), relative);
  }
  for (const Tap& tap : trace.taps()) {
    const Operation exact = operation_of(trace, tap.name);
    if (exact.left != nullptr) measure(stages[tap.name.stage], tap.value, exact);
  }
  return stages;
}

}  // namespace tally
