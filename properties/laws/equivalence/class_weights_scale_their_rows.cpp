// Law: the weight of a row's class scales its loss and its gradient, with and without label smoothing.
#include <vector>

#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::class_weights_scale_their_rows_law {
namespace {

/// One weight for each class: halves, quarters and whole numbers by turns, none of them equal to its neighbour.
std::vector<Decimal> weights_of(const Plan& plan) {
  static const std::vector<Decimal> drawn = {Decimal{"0.5"}, Decimal{"3"}, Decimal{"1.25"}, Decimal{"0.1"}};
  std::vector<Decimal> weights;
  for (std::int64_t i = 0; i < plan.outputs; ++i) {
    weights.push_back(drawn[(plan.seed + static_cast<std::uint64_t>(i)) % drawn.size()]);
  }
  return weights;
}

void shape(Plan& plan) {
  plan.outputs = std::max<std::int64_t>(plan.outputs, 2);
  const Decimal smoothing{plan.seed % 2 == 0 ? "0" : "0.1"};
  plan.loss = choice("loss", "cross_entropy", {{"weight", weights_of(plan)}, {"label_smoothing", smoothing}});
  plan.ignored_percent = plan.seed % 3 == 0 ? 30 : 0;
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case plain = c;
  plain.model.loss.options["weight"] = std::vector<Decimal>{};
  return bits_differ(run(c, subject), run(plain, subject), {"loss"});
}

const RegisterLaw registered{{
    .name = "class_weights_scale_their_rows",
    .family = "equivalence",
    .statement = "The weight of its class scales a row's loss and gradient, smoothed or not.",
    .shape = shape,
    .holds = holds,
    .control = "without class weights the losses are others",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::class_weights_scale_their_rows_law
