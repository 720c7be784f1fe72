#include "properties/generators/token_plan.hpp"

#include <algorithm>
#include <array>

#include "kernels/device/executor/schedule.hpp"
#include "properties/generators/activations.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/drawn_size.hpp"
#include "properties/generators/residual_blocks.hpp"

namespace tally {
namespace {

constexpr std::uint64_t apart_of_tokens = 0x3c6ef372u;

template <std::size_t n>
std::int64_t any_of(executor::Schedule& random, const std::array<std::int64_t, n>& sizes) {
  return sizes[random.below(n)];
}

/// Nothing, a linear layer with a function, or both as a residual block behind a norm.
std::vector<Layer> drawn_layers(const TokenPlan& tokens, executor::Schedule& random) {
  const std::uint64_t form = random.below(3);
  if (form == 0) return {};
  std::vector<Layer> layers;
  const std::string read = tokens.positions ? "wpe" : "wte";
  if (form == 2) layers.push_back(layer("layer_norm", "norm1"));
  layers.push_back(layer("linear", "fc1", {{"out", tokens.width}, {"bias", random.below(2) == 0}}));
  layers.push_back(activations()[random.below(activations().size())]);
  if (layers.back().name.empty()) layers.back().name = "act1";
  if (form == 2) layers.push_back(sum_of("sum1", {read, layers.back().name}));
  return layers;
}

}  // namespace

void read_tokens(Plan& plan) {
  executor::Schedule random(plan.seed ^ apart_of_tokens);
  plan.input = any_of<6>(random, {2, 3, 5, 8, 11, 33});
  plan.tokens = {.width = any_of<6>(random, {1, 2, 3, 4, 7, 8}),
                 .longest = any_of<4>(random, {2, 3, 5, 8}),
                 .positions = random.below(2) == 0,
                 .tied = random.below(3) == 0};
  plan.hidden = drawn_layers(plan.tokens, random);
  plan.outputs = plan.input;
  plan.values.clear();
  plan.gradient_magnitude = 1;
  plan.far_mean = false;
  if (plan.loss.kind != "cross_entropy") plan.loss = choice("loss", "cross_entropy");
  plan.loss.options["shift"] = random.below(3) != 0;
  const std::array<const char*, 4> z_losses{"0", "0", "0.25", "0.5"};
  plan.loss.options["z_loss"] = Decimal{z_losses[random.below(z_losses.size())]};
  if (random.below(4) == 0) plan.execution.kernels["embedding.gradient"] = "atomic_add";
  if (random.below(4) == 0) plan.execution.kernels["head_loss"] = "chunked";
  for (auto& window : plan.windows) window.front() = std::max<std::int64_t>(window.front(), 2);
}

void tie_more(Plan& plan) {
  constexpr std::uint64_t apart_of_users = 0x2f6a1d9bu;
  constexpr std::int64_t most_users = 4;
  executor::Schedule random(plan.seed ^ apart_of_users);
  plan.tokens.tied = true;
  const std::int64_t users = drawn_size("users of a table", random, most_users, 2);
  for (std::int64_t user = 3; user <= users; ++user) {
    const std::string number = std::to_string(user);
    plan.hidden.push_back(layer("linear", "use" + number, {{"out", plan.input}, {"bias", random.below(2) == 0}}));
    plan.hidden.back().tied = "wte";
    plan.hidden.push_back(layer("linear", "back" + number, {{"out", plan.tokens.width}, {"bias", false}}));
  }
}

}  // namespace tally
