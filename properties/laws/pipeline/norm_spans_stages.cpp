// Law: the stages of a pipeline clip by one norm over the layers of all, and skip a step together where one of them finds
// an overflow.   sum over stages of their parts; found = found by any.
#include "oracle/case/kinds.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/pipeline/pipelines.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::norm_spans_stages_law {
namespace {

/// A clip by norm that is active, now and then over the largest element alone; in every other plan an overflow, of half
/// of them beside a stage that may be without parameters and so finds none.
void shape(Plan& plan) {
  if (plan.seed % 2 == 0) overflow_in_first_micro_batch(plan);
  if (plan.seed % 4 == 0) plan.hidden = {layer("relu")};
  pipelined_on_ranks(plan);
  const char* const norms[] = {"2", "2", "1", "inf"};
  plan.recipe.clip = choice("clip", "global_norm",
                            {{"max_norm", Decimal{"0.015625"}}, {"norm", std::string(norms[plan.seed / 3 % 4])}});
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_pipelined(c) || !clips_by_norm(c.recipe.clip))
    return not_for(std::string(needs_stages) + ", with a clip by norm");
  Outcome all;
  for (const std::string word : {"squares", "norms"}) {
    CheckedRun run = run_and_check(with_rank_option(c, "reduce.norm", word), subject);
    if (run.outcome.status == Status::not_run) return run.outcome;
    add(all, std::move(run.outcome));
  }
  return settled(std::move(all));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"norm", "reduce"});
}

const RegisterLaw registered{{
    .name = "norm_spans_stages",
    .family = "pipeline",
    .statement = "Stages of a pipeline clip by one norm over all layers, and skip a step together.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::norm_spans_stages_law
