// Law: where rounding takes nothing, head and loss as one leave the bits of the two by themselves, however many chunks
// the rows come to. Every row is (1, 0, …), and the logits of two or four classes are 0, those of all others -256, whose
// exponentials are 0 in fp32: probabilities are 1/2 or 1/4, and gradients small multiples of 1/16, in 16 bits as well.
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::chunks_of_a_head_leave_exact_bits_law {
namespace {

const std::string& head(const Case& c) { return c.model.layers.back().name; }

void shape(Plan& plan) {
  read_tokens(plan);
  plan.tokens.width = plan.seed % 2 == 0 ? 2 : 3;
  plan.tokens.positions = plan.tokens.tied = false;
  plan.hidden.clear();
  plan.output_bias = false;
  plan.loss = choice("loss", "cross_entropy", {{"shift", plan.seed % 4 < 2}});
  plan.windows.resize(1);
  for (std::int64_t& rows : plan.windows.front()) rows = std::min<std::int64_t>(rows, 9);
  plan.windows.front().front() = 4 + static_cast<std::int64_t>(plan.seed % 6);
  plan.normalisation = Normalisation::sum;
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.execution.kernels = {{"head_loss", "chunked"}};
}

/// Logits of 0 and -256, and gradients of x that say which class they came from.
Case far_apart(Case c) {
  Tensor &table = c.tensors.at("wte.weight"), &weight = c.tensors.at(head(c) + ".weight");
  const std::int64_t classes = weight.shape[0], width = weight.shape[1], near = classes < 4 ? 2 : 4;
  const auto set = [&](Tensor& tensor, std::int64_t row, std::int64_t j, double value) {
    tensor.set(static_cast<std::size_t>(row * width + j), value);
  };
  for (std::int64_t row = 0; row < classes; ++row) {
    for (std::int64_t j = 0; j < width; ++j) {
      set(table, row, j, j == 0 ? 1 : 0);
      set(weight, row, j, static_cast<double>((row + j) % 3 - 1) / 2);
    }
    set(weight, row, 0, row < near ? 0 : -256);
  }
  table.drawing.reset();
  weight.drawing.reset();
  return c;
}

Outcome holds(const Case& drawn, const RunOptions& subject) {
  if (!drawn.tensors.contains("wte.weight") || !drawn.execution.kernels.contains("head_loss"))
    return not_for("a model over tokens whose head is one with the loss");
  const Case c = far_apart(drawn);
  Case apart = c;
  apart.execution.kernels.erase("head_loss");
  CheckedRun fused = run_and_check(c, subject);
  if (fused.outcome.status == Status::not_run) return fused.outcome;
  const CheckedRun separate = run_and_check(apart, subject);
  add(fused.outcome, separate.outcome);
  require_equal_bits(fused.outcome, separate.trace, fused.trace, {"fork", "accumulate", "unscale", "optimizer"},
                     "head and loss as one left other bits than by themselves, though nothing rounds");
  return settled(std::move(fused.outcome));
}

/// The label of every row is another one.
bool differs(const Case& drawn, const RunOptions& subject) {
  const Case c = far_apart(drawn);
  Case other = c;
  Tensor& target = other.tensors.at("target");
  const std::int64_t classes = other.tensors.at(head(c) + ".weight").shape[0];
  for (std::size_t row = 0; row < target.elements(); ++row)
    target.set_bits(row, static_cast<std::uint64_t>((std::max<std::int64_t>(target.integer(row), 0) + 1) % classes));
  target.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "chunks_of_a_head_leave_exact_bits",
    .family = "tokens",
    .statement = "Where nothing rounds, head and loss as one leave the bits of the two by themselves.",
    .shape = shape,
    .holds = holds,
    .control = "other labels give other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::chunks_of_a_head_leave_exact_bits_law
