// Cases whose model is a pipeline's; laws: stages leave what one process leaves, and clip by one norm.
#include "properties/laws/pipeline/pipelines.hpp"

#include <utility>

#include "oracle/case/contract.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally {

void pipelined_on_ranks(Plan& plan) {
  const bool on_ranks = plan.seed / 8 % 3 == 0;
  if (on_ranks) at_least_micro_batches(plan, 4);  // the order of a sum tells where three ranks or more have some
  pipelined(plan);
  if (!on_ranks) return;
  dealt_to_ranks(plan);
  plan.ranks = 2 + plan.ranks % 3;
  keep_ranks(plan);
  communicate(plan, "window");
  share(plan, plan.seed / 64 % 2 == 0 ? "optimizer" : "none");
  for (const char* key : {"offload", "statistics"}) set_rank_option(plan.execution, key, standard_rank_option(key));
  for (Layer& layer : plan.hidden)
    if (takes_step_statistics(layer)) layer.options["statistics"] = std::string("micro_batch");
}

Case without_stages(Case c) {
  for (const char* key :
       {"pipeline.stages", "pipeline.cut", "pipeline.chunks", "pipeline.schedule", "pipeline.backward"})
    c = with_rank_option(std::move(c), key, standard_rank_option(key));
  return c;
}

std::vector<Case> by_every_schedule(const Case& c) {
  std::vector<Case> all{c};
  if (chunks_of(c) > 1) return all;
  for (const auto& [schedule, backward] : {std::pair{"gpipe", "fifo"}, {"gpipe", "lifo"}, {"1f1b", "fifo"}}) {
    Case other = with_rank_option(c, "pipeline.schedule", std::string(schedule));
    other = with_rank_option(std::move(other), "pipeline.backward", std::string(backward));
    if (!(other == c)) all.push_back(std::move(other));
  }
  return all;
}

}  // namespace tally

// Law: stages of a pipeline leave what one process with the whole model leaves, by every schedule, wherever it is cut and
// into however many chunks.   A micro-batch goes through the same kernels on the same bits. Where micro-batches go back
// first in, first out, each buffer adds in the order of one process, to the bit; last first is another order of the sum,
// and a clip by norm adds up the stages' parts, so that both are asked within their bounds alone; so is a sum over ranks
// whose order follows from places in buckets.
namespace tally::pipeline_changes_nothing_law {
namespace {

/// Micro-batches fewer than the stages, as many, and more.
void shape(Plan& plan) {
  if (plan.seed % 4 > 0) at_least_micro_batches(plan, 2 + plan.seed % 3);
  pipelined_on_ranks(plan);
}

/// Whether the order of a sum over ranks follows from an element's place in its bucket: each stage fills its own.
bool adds_by_place(const Case& c) {
  const std::string& algorithm = rank_word(c, "reduce.algorithm");
  return ranks_of(c) > 2 && (algorithm == "ring" || algorithm == "recursive_halving");
}

std::vector<std::string> compared_stages(const Case& c) {
  std::vector<std::string> stages{"forward", "running_stats", "loss", "backward", "fork"};
  if (goes_back_last_first(c)) return stages;
  stages.emplace_back("accumulate");
  if (adds_by_place(c)) return stages;
  stages.emplace_back("reduce");
  const bool in_pieces = shards_optimizer(c);  // of another layout
  if (!in_pieces) stages.emplace_back("unscale");
  if (clips_by_norm(c.recipe.clip)) return stages;
  for (const char* stage : {"cast", "scaler", "schedule"}) stages.emplace_back(stage);
  for (const char* stage : {"clip", "decay", "optimizer"})
    if (!in_pieces) stages.emplace_back(stage);
  return stages;
}

/// One window alone where the next begins with other parameters; what stages have each for itself, of the first one.
Trace compared(const Case& c, const Trace& trace) {
  const bool goes_on = !goes_back_last_first(c) && !clips_by_norm(c.recipe.clip) && !adds_by_place(c);
  Trace some;
  some.claims = trace.claims;
  for (const Tap& tap : trace.taps())
    if (tap.name.pipe < 0 && (goes_on || tap.name.window == 0)) some.add(tap.name, tap.value);
  return some;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_pipelined(c)) return not_for(needs_stages);
  CheckedRun whole = run_and_check(without_stages(c), subject);
  if (whole.outcome.status == Status::not_run) return whole.outcome;
  for (const Case& each : by_every_schedule(c)) {
    CheckedRun run = run_and_check(each, subject);
    if (run.outcome.status == Status::not_run) return run.outcome;
    add(whole.outcome, std::move(run.outcome));
    if (subject.order_seed == 0)  // else every product draws its own order, by its number in the process
      require_equal_bits(whole.outcome, compared(each, whole.trace), compared(each, run.trace), compared_stages(each),
                         "a pipeline by " + pipeline_schedule(each) + " left other bits than one process");
  }
  return settled(std::move(whole.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"send", "reduce"});
}

const RegisterLaw registered{{
    .name = "pipeline_changes_nothing",
    .family = "pipeline",
    .statement = "Stages of a pipeline leave what one process with the whole model leaves.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other activations and sums",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::pipeline_changes_nothing_law

// Law: the stages of a pipeline clip by one norm over the layers of all, and skip a step together where one of them finds
// an overflow.   sum over stages of their parts; found = found by any.
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
