// Law: where the gradient of one rank overflows, every rank skips that step, once: scale, counters and rate agree, and
// none waits for ever.   inf + x is not finite, so that the sum over ranks shows it to all; and found is the or of all.
#include "oracle/case/ranks.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::overflow_on_one_rank_skips_all_law {
namespace {

void shape(Plan& plan) {
  overflow_in_first_micro_batch(plan);
  dealt_to_ranks(plan);
}

bool any_finds(const Case& c, const Trace& trace) {
  for (int rank = 0; rank < static_cast<int>(ranks_of(c, 0)); ++rank) {
    const Tensor* found = trace.find(TapView{0, -1, "overflow_check", "found", rank});
    if (found != nullptr && found->integer(0) == 1) return true;
  }
  return false;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  if (first.outcome.status != Status::fail && !any_finds(c, first.trace))
    return not_for("a case in which the gradient of a rank overflows");
  for (int rank = 0; rank < static_cast<int>(ranks_of(c, 0)); ++rank) {
    const Tensor* found = first.trace.find(TapView{0, -1, "agree", "found", rank});
    require(first.outcome, found != nullptr && found->integer(0) == 1, "w0/agree/found", "agree",
            "rank " + std::to_string(rank) + " did not hear of an overflow on another rank");
    for (const std::string& p : parameters_of(c.model))
      require(first.outcome, first.trace.find(TapView{0, -1, "optimizer", p, rank}) == nullptr, "w0/optimizer/" + p,
              "optimizer", "rank " + std::to_string(rank) + " took a step that all were to skip");
  }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"reduce"});
}

const RegisterLaw registered{{
    .name = "overflow_on_one_rank_skips_all",
    .family = "ranks",
    .statement = "Where one rank's gradient overflows every rank skips the step, and scale and counters agree.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other sums",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::overflow_on_one_rank_skips_all_law
