// Law: training that starts from a given state goes on from it: momentum, both moments, the step count and, where the
// scale is dynamic, the count of clean windows.
#include "oracle/case/io.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::state_is_taken_over_law {
namespace {

void shape(Plan& plan) {
  const bool sgd = plan.recipe.optimizer.kind == "sgd";
  if (plan.seed % 2 == 0) {
    if (sgd) plan.recipe.optimizer = choice("optimizer", "adam");
  } else if (sgd || plan.recipe.optimizer.kind == "adam") {
    const bool nesterov = plan.seed % 4 == 1;
    plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}, {"nesterov", nesterov}});
  }
  if (plan.recipe.loss_scale.kind == "dynamic") {
    plan.recipe.loss_scale.options["growth_interval"] = std::int64_t{2};
    plan.recipe.loss_scale.options["growth_counter"] = std::int64_t{1};
  }
}

/// The state of a loop that has taken a few steps.
Case in_the_middle(Case c) {
  std::uint64_t seed = static_cast<std::uint64_t>(c.windows.size());
  const auto add = [&](const std::string& name, const Tensor& like, const char* family) {
    Tensor state(like.dtype, like.shape);
    draw(state, {1, ++seed, family});
    c.tensors.insert_or_assign(name, std::move(state));
  };
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor like = c.tensors.at(parameter);
    for (const StateTensor* each : state_of(c.recipe.optimizer))
      add(each->name + ("." + parameter), like, each->never_negative ? "positive" : "normal");
  }
  Tensor step(Dtype::i64, {});
  step.set(0, 3);
  c.tensors.insert_or_assign("step", step);
  return c;
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(in_the_middle(c), subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(in_the_middle(c), subject), run(c, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "state_is_taken_over",
    .family = "state",
    .statement = "Training that starts from a given state goes on from it.",
    .shape = shape,
    .holds = holds,
    .control = "the same case without the state has another update",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::state_is_taken_over_law
