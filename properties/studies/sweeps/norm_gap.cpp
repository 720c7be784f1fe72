#include "properties/studies/sweeps/norm_gap.hpp"

#include <cmath>

#include "oracle/window/trajectory.hpp"
#include "properties/compare/expectations.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
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
    if (each.kind != "batch_norm") continue;
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
