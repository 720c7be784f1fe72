// The problems that sweeps of drift run, and where their drift comes from.
#include "properties/lab/sweeps/drift.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "oracle/case/kinds.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"
#include "properties/judge/two_runs.hpp"

namespace tally {
namespace {

constexpr double smallest_normal_half = 0x1p-14;

Layer linear(const std::string& name, std::int64_t out) { return layer("linear", name, {{"out", out}}); }

Choice scale_of(const std::string& scale) { return choice("loss_scale", "static", {{"scale", Decimal{scale}}}); }

std::vector<SweepProblem> all_problems() {
  const Choice cross_entropy = choice("loss", "cross_entropy"), scale = scale_of("256");
  const Layer batch_norm = layer("batch_norm", "norm1", {{"statistics", std::string("micro_batch")}});
  return {
      {"relu, cross_entropy", {linear("fc1", 32), layer("relu")}, cross_entropy, 16, 10, scale},
      {"layer_norm, gelu",
       {linear("fc1", 32), layer("layer_norm", "norm1"), layer("gelu")},
       cross_entropy,
       16,
       10,
       scale},
      {"batch_norm, relu", {linear("fc1", 32), batch_norm, layer("relu")}, cross_entropy, 16, 10, scale},
      {"tanh, mse", {linear("fc1", 32), layer("tanh")}, choice("loss", "mse"), 16, 10, scale},
  };
}

/// The tensor's values times the magnitude in another format, which must hold them; what is below fp16's normal range
/// becomes 0.
Tensor in_format(const Tensor& drawn, Dtype format, double magnitude) {
  Tensor tensor(format, drawn.shape);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    const double value = magnitude * drawn.value(i);
    tensor.set(i, std::fabs(value) >= smallest_normal_half ? value : 0);
  }
  return tensor;
}

}  // namespace

const std::vector<SweepProblem>& sweep_problems() {
  static const std::vector<SweepProblem> problems = all_problems();
  return problems;
}

SweepProblem small_signals() {
  SweepProblem problem = sweep_problems().back();
  problem.name += ", signals of 2^-8";
  problem.magnitude = 0x1p-8;
  return problem;
}

Case sweep_case(const SweepProblem& problem, Dtype storage, std::int64_t rows, std::int64_t micro_batches,
                std::uint64_t seed) {
  Plan plan;
  plan.input = problem.input;
  plan.hidden = problem.hidden;
  plan.outputs = problem.outputs;
  plan.loss = problem.loss;
  plan.windows = {std::vector<std::int64_t>(static_cast<std::size_t>(micro_batches), rows / micro_batches)};
  plan.precision.storage = Dtype::bf16;
  plan.recipe = {choice("optimizer", "sgd"), choice("learning_rate", "constant", {{"base", Decimal{"0.05"}}}),
                 choice("weight_decay", "none"), choice("clip", "none"), problem.loss_scale};
  plan.seed = seed;
  Case c = case_of(plan);
  c.precision.storage = storage;
  for (const char* name : {"x", "target"}) {
    Tensor& tensor = c.tensors.at(name);
    if (tensor.dtype == Dtype::bf16) tensor = in_format(tensor, storage, problem.magnitude);
  }
  for (auto& [name, tensor] : c.tensors) {
    if (!name.ends_with(".bias") || problem.magnitude == 1) continue;
    for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, problem.magnitude * tensor.value(i));
    tensor.drawing.reset();
  }
  return c;
}

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

namespace {

/// Against the exact gradient of the accumulated window, without a bound. NaN where the trace has no gradient.
double distance_to_exact(const Case& c, const Trace& trace) {
  const auto before = oracle::initial_state<long double>(c);
  const auto exact = oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, before);
  long double error = 0, size = 0;
  for (const auto& [parameter, gradient] : exact.grad) {
    const Tensor* got = trace.find(TapView{0, -1, "unscale", "d." + parameter});
    if (got == nullptr) return std::numeric_limits<double>::quiet_NaN();
    for (Eigen::Index i = 0; i < gradient.size(); ++i) {
      const long double off = got->value(static_cast<std::size_t>(i)) - gradient.data()[i];
      error += off * off;
    }
    size += gradient.squaredNorm();
  }
  return static_cast<double>(std::sqrt(error / size));
}

}  // namespace

WindowDrift window_drift(const Case& c, const RunOptions& subject) { return window_drift(c, run(c, subject)); }

WindowDrift window_drift(const Case& c, const Trace& trace) {
  const GradientDrift drift = gradient_drift(c, trace, end_to_end_expectations(c, trace));
  if (drift.bound > 0) return {semantic_gap(c), drift.rounding, drift.bound};
  return {semantic_gap(c), distance_to_exact(c, trace), std::numeric_limits<double>::infinity()};
}

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
  if (output.stage == StageName::cast) return {trace.find(beside(output, "in." + tensor))};
  if (output.stage == StageName::accumulate && tensor.starts_with("buffer.")) {
    const std::string parameter = tensor.substr(std::string("buffer.").size());
    return {trace.find(beside(output, "in.d." + parameter)), trace.find(beside(output, "in." + tensor))};
  }
  if (output.stage == StageName::unscale && tensor.starts_with("d.")) {
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

namespace {

using Tensors = oracle::Tensors<long double>;
using Answer = oracle::WindowAnswer<long double>;

double relative(const Tensors& found, const Tensors& full) {
  long double change = 0, size = 0;
  for (const auto& [name, tensor] : full) {
    change += (found.at(name) - tensor).squaredNorm();
    size += tensor.squaredNorm();
  }
  return change == 0 ? 0 : static_cast<double>(std::sqrt(change / size));
}

Answer answer(const Case& c, oracle::Branch branch) {
  return oracle::evaluate_window(c, 0, branch, oracle::initial_state<long double>(c));
}

NormGap between(const Answer& accumulated, const Answer& full) {
  return {relative(accumulated.grad, full.grad), relative(accumulated.after.running_mean, full.after.running_mean),
          relative(accumulated.after.running_var, full.after.running_var)};
}

}  // namespace

const std::vector<std::string>& sweep_norms() {
  static const std::vector<std::string> all{"micro_batch", "window", "frozen", "layer_norm"};
  return all;
}

std::vector<Layer> layers_with(const std::string& norm) {
  return {layer("linear", "fc1", {{"out", std::int64_t{16}}}),
          norm == "layer_norm" ? layer("layer_norm", "norm1") : layer("batch_norm", "norm1", {{"statistics", norm}}),
          layer("tanh")};
}

NormGap norm_gap(const Case& c) {
  return between(answer(c, oracle::Branch::accumulated), answer(c, oracle::Branch::full_batch));
}

NormGap norm_gap_with_shared_momentum(const Case& c) {
  Case shared = c;
  for (Layer& each : shared.model.layers) {
    if (each.kind != kinds::batch_norm) continue;
    const double left = 1 - each.number("momentum").to_double();
    each.options["momentum"] = decimal(1 - std::pow(left, 1 / static_cast<double>(c.windows.front().size())));
  }
  return between(answer(shared, oracle::Branch::accumulated), answer(c, oracle::Branch::full_batch));
}

NormDrift norm_drift(const Case& c, const RunOptions& subject) {
  const Trace trace = run(c, subject);
  const GradientDrift drift = gradient_drift(c, trace, end_to_end_expectations(c, trace));
  return {drift.rounding, drift.bound};
}

}  // namespace tally
