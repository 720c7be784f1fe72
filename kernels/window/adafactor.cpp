// How a step runs Adafactor.
#include <algorithm>
#include <cmath>
#include <deque>

#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "kernels/window/adafactor_arguments.hpp"

namespace tally::adafactor_steps {
namespace {

/// Constants derived in binary64 and rounded once; tensors and sizes are left empty.
AdafactorArguments constants(const Run& run) {
  const Choice& choice = run.c.recipe.optimizer;
  const auto count = static_cast<double>(run.step + 1);
  const double eps1 = choice.number("eps1").to_double();
  AdafactorArguments a{};
  a.share = static_cast<float>(std::pow(count, -choice.number("decay").to_double()));
  a.rho = static_cast<float>(std::min(run.learning_rate, 1 / std::sqrt(count)));
  a.eps1 = static_cast<float>(eps1);
  a.squared_eps1 = static_cast<float>(eps1 * eps1);
  a.eps2 = static_cast<float>(choice.number("eps2").to_double());
  a.d = static_cast<float>(choice.number("d").to_double());
  a.format = run.c.precision.master;
  return a;
}

/// Of a matrix the last two dimensions; of a vector each element is a row.
void take_sizes(const Parameter& parameter, AdafactorArguments& a) {
  const auto& shape = parameter.master.shape;
  const bool factored = shape.size() >= 2;
  a.columns = factored ? shape.back() : 1;
  a.rows = factored ? shape[shape.size() - 2] : parameter.elements;
  a.matrices = parameter.elements == 0 ? 0 : parameter.elements / (a.rows * a.columns);
  a.per_row = static_cast<float>(a.columns);
  a.per_column = static_cast<float>(a.rows);
  a.per_tensor = static_cast<float>(parameter.elements);
}

void step(Run& run) {
  AdafactorArguments a = constants(run);
  std::deque<DeviceTensor> sums;  // until the last launch is through
  for (Parameter& parameter : run.parameters) {
    take_sizes(parameter, a);
    const std::vector<std::int64_t> all{2 + a.matrices};
    a.gradient = parameter.unscaled.as<float>();
    a.parameter = parameter.master.data();
    a.row = parameter.state[0].tensor.data();
    a.column = parameter.state.size() > 1 ? parameter.state[1].tensor.data() : nullptr;
    a.sums = sums.emplace_back(run.device, "sums of " + parameter.name, Dtype::fp32, all).as<float>();
    run.launch("adafactor", a);
  }
  run.stream.synchronize();
}

const RegisterKind<OptimizerSteps> registered("adafactor", {step});

}  // namespace
}  // namespace tally::adafactor_steps
