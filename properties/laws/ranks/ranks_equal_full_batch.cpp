// Law: ranks that each accumulate micro-batches and then add up their buffers give the full batch's update, however the
// micro-batches are dealt, to one rank too.   sum_r sum_k s_rk / N does not depend on who has which.
#include "properties/laws/full_batch.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::ranks_equal_full_batch_law {
namespace {

void shape(Plan& plan) {
  plan.normalisation = Normalisation::window_items;
  at_least_micro_batches(plan, 2);
  dealt_to_ranks(plan);
  freeze_batch_norm(plan);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  Outcome outcome =
      against_full_batch(c, subject, "the exact gradient of all ranks is not the exact full-batch gradient");
  return outcome.status == Status::not_run ? outcome : settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "ranks_equal_full_batch",
    .family = "ranks",
    .statement = "Ranks that add up their buffers give the full batch's update, however micro-batches are dealt.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::ranks_equal_full_batch_law
