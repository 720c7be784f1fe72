// Law: whether ranks add up every micro-batch's gradient, their running totals, or their buffers once, the window ends
// with the same gradient.   A sum of sums is the sum, and a mean of R equal numbers is that number: on exact data to the
// bit, else within the bounds of each.
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally {
namespace {

void shape(Plan& plan) {
  exact_arithmetic(plan);
  at_least_micro_batches(plan, 2);
  dealt_to_ranks(plan);
  divide_exactly(plan);
  communicate(plan, "micro_batch");  // without what is refused beside either word
  communicate(plan, "running_total");
  communicate(plan, "window");
}

/// Whether every word is allowed beside how the case divides.
bool takes_totals(const Case& c) {
  const std::string& divide = rank_word(c, "reduce.divide");
  return divide != "loss" && divide != "unscale";
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  const Case once = with_rank_option(c, "communicate", std::string("window"));
  CheckedRun first = run_and_check(once, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  for (const std::string word : {"micro_batch", "running_total"}) {
    if (word == "running_total" && !takes_totals(c)) continue;
    CheckedRun each = run_and_check(with_rank_option(c, "communicate", word), subject);
    require_equal_bits(first.outcome, first.trace, each.trace, {"unscale", "optimizer"},
                       word + " left other bits than one sum a window, though every sum is exact");
    add(first.outcome, std::move(each.outcome));
  }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "sync_each_or_last",
    .family = "ranks",
    .statement = "Adding up over ranks behind every micro-batch or once a window leaves the same gradient.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally
