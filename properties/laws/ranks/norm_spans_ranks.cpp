// Law: where ranks share the optimizer, the norm that gradients are clipped by is that of all pieces, the same bits on
// every rank.   The squares of a sum of pieces are the sum of the pieces' squares, each piece counted once.
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::norm_spans_ranks_law {
namespace {

/// A clip by norm that is active, now and then over the largest element alone.
void shape(Plan& plan) {
  dealt_to_ranks(plan);
  if (rank_word(plan.execution, "communicate") == "running_total") communicate(plan, "window");
  share(plan, "optimizer");
  const char* const norms[] = {"2", "2", "1", "inf"};
  plan.recipe.clip = choice("clip", "global_norm",
                            {{"max_norm", Decimal{"0.015625"}}, {"norm", std::string(norms[plan.seed / 3 % 4])}});
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c) || !clips_by_norm(c.recipe.clip)) return not_for(needs_ranks);
  Outcome all;
  for (const std::string word : {"squares", "norms"}) {
    const Case each = with_rank_option(shared_as(c, "optimizer"), "reduce.norm", word);
    CheckedRun run = run_and_check(each, subject);
    if (run.outcome.status == Status::not_run) return run.outcome;
    add(all, std::move(run.outcome));
  }
  return settled(std::move(all));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"norm", "reduce"});
}

const RegisterLaw registered{{
    .name = "norm_spans_ranks",
    .family = "ranks",
    .statement = "Where ranks share the optimizer they clip by one norm over the pieces of all.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::norm_spans_ranks_law
