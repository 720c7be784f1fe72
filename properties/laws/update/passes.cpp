// Laws of steps that take two windows of the same rows.
#include <array>

#include "oracle/case/sizes.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: the second window of sharpness-aware minimisation steps from the weights in front of the first; with a radius of
// zero both together are one step of SGD, bit by bit.
//   p + 0 g / (norm + epsilon) = p,   k - lr g = p - lr g
namespace tally::a_second_pass_steps_from_kept_weights_law {
namespace {

/// Elements of the first layer's bias: a block and several, full and cut; each once strided over by one block, and in
/// every master's format. Half the plans, by seed; the others keep their layers.
constexpr std::array<std::int64_t, 3> features{64, 512, 777};
constexpr std::uint64_t designs = 2 * features.size() * 3;

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2);
  plan.windows = {plan.windows.front(), plan.windows.front()};
  plan.normalisation = Normalisation::window_items;
  const std::vector<Dtype> masters = formats_for(&FormatUses::master);
  const std::uint64_t number = plan.seed % (2 * designs), size = number / 2 % features.size();
  plan.precision.master = masters[number / 6 % masters.size()];
  if (number < designs) {
    plan.tokens = {}, plan.stages = plan.chunks = 1;
    plan.hidden = {layer("linear", "fc1", {{"out", features[size]}})};
  }
  plan.recipe = {.optimizer = choice("optimizer", "sgd"),
                 .learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.125"}}}),
                 .weight_decay = choice("weight_decay", "none"),
                 .clip = choice("clip", "none"),
                 .loss_scale = choice("loss_scale", "none")};
  plan.execution.kernels.erase("clip_decay_step");  // it has no step of two windows
  if (number % 2 == 0) plan.execution.kernels[std::string(most_blocks_key)] = "1";
}

Case with_radius(const Case& c, const char* rho) {
  Case sam = with_repeated_rows(c);
  sam.recipe.optimizer = choice("optimizer", "sam");
  sam.recipe.clip = choice("clip", "sam_ascent", {{"rho", Decimal{rho}}});
  return sam;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (c.windows.size() != 2 || c.windows[0] != c.windows[1] || c.recipe.optimizer != choice("optimizer", "sgd"))
    return not_for("two windows of the same micro-batches and SGD without momentum");
  CheckedRun judged = run_and_check(with_radius(c, "0.5"), subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const Trace still = run(with_radius(c, "0"), subject), once = run(with_repeated_rows(c), subject);
  for (const std::string& parameter : parameters_of(c.model)) {
    const std::string name = "w1/optimizer/" + parameter;
    const Tensor *two = still.find(name), *one = once.find("w0/optimizer/" + parameter);
    if (two == nullptr || one == nullptr)
      require(judged.outcome, false, name, "optimizer", name + " was not tapped");
    else
      add(judged.outcome, bitwise_check(name, "optimizer", *one, *two));
  }
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(with_radius(c, "0"), subject), run(with_radius(c, "0.5"), subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "a_second_pass_steps_from_kept_weights",
    .family = "decay, optimizer, schedule",
    .statement = "A second pass over the same rows steps from the weights that the first kept.",
    .shape = shape,
    .holds = holds,
    .control = "a radius that is not zero gives other weights",
    .differs = differs,
    .weight = 0.5,
    .designed = true,
}};

}  // namespace
}  // namespace tally::a_second_pass_steps_from_kept_weights_law
