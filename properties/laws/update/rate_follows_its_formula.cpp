// Law: the learning rate of every step follows its schedule: the warm-up, the fall, and the floor from the end on.
//   t < w: base (t + 1) / w;   then floor + (base - floor)(1 + cos(π (t - w) / (T - w))) / 2;   t >= T: floor
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::rate_follows_its_formula_law {
namespace {

void shape(Plan& plan) {
  plan.windows = {{2, 2}, {2}, {2, 3}, {2}, {2, 2}, {2}};
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.recipe.learning_rate = choice("learning_rate", "warmup_cosine",
                                     {{"base", Decimal{"0.1"}},
                                      {"warmup", std::int64_t{plan.seed % 2 == 0}},
                                      {"total", std::int64_t{4}},
                                      {"floor", Decimal{"0.01"}}});
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const Tensor* last = judged.trace.find("w5/schedule/learning_rate");
  const Tensor* before = judged.trace.find("w4/schedule/learning_rate");
  require(judged.outcome, last && before && *last == *before, "w5/schedule/learning_rate", "schedule",
          "the rate still moves after the schedule's end");
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case longer = c;
  longer.recipe.learning_rate.options["total"] = std::int64_t{5};
  return bits_differ(run(c, subject), run(longer, subject), {"schedule"});
}

const RegisterLaw registered{{
    .name = "rate_follows_its_formula",
    .family = "decay, optimizer, schedule",
    .statement = "The learning rate of every step follows its schedule, past its end too.",
    .shape = shape,
    .holds = holds,
    .control = "a longer schedule gives other rates",
    .differs = differs,
    .weight = 0.4,
}};

}  // namespace
}  // namespace tally::rate_follows_its_formula_law
