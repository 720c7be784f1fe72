// Law: the future does not matter. Where attention is causal, another last token of a sequence changes no bit of the
// rows before it, and none of their gradients, as the last row is scored by nothing.
#include <algorithm>

#include "oracle/case/sequences.hpp"
#include "properties/generators/attention_plan.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/equal_rows.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::the_future_does_not_matter_law {
namespace {

void shape(Plan& plan) {
  attend(plan);
  plan.loss.options["shift"] = true;
  for (Layer& l : plan.hidden)
    if (l.kind == "attention") l.options["causal"] = true;
}

bool is_for(const Case& c) {
  const auto attention = attention_layers(c.model);
  return c.model.tokens && c.model.input > 1 && !attention.empty() && shifts_labels(c.model.loss) &&
         std::ranges::all_of(attention, [&](std::size_t i) { return c.model.layers[i].flag("causal"); });
}

/// The first or the last row of each sequence of two rows and more.
std::vector<bool> rows_at(const Case& c, bool last) {
  std::vector<bool> rows;
  for (const std::int64_t length : c.sequences)
    for (std::int64_t place = 0; place < length; ++place)
      rows.push_back(length > 1 && place == (last ? length - 1 : 0));
  return rows;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_for(c)) return not_for("causal attention over tokens, of two and more, with labels shifted");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  std::vector<bool> kept = rows_at(c, true);
  const CheckedRun other = run_and_check(with_other_tokens(c, kept), subject);
  add(straight.outcome, other.outcome);
  kept.flip();
  const bool held = require_equal_rows(straight.outcome, c, straight.trace, other.trace, kept,
                                       "the last token of a sequence changed a row before it");
  Outcome outcome = settled(std::move(straight.outcome));
  return held ? outcome : vacuous(std::move(outcome), "no row is to keep its bits");
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_tokens(c, rows_at(c, true)), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "the_future_does_not_matter",
    .family = "attention",
    .statement = "Causal attention: another last token changes no bit of the rows before it, nor of their gradients.",
    .shape = shape,
    .holds = holds,
    .control = "the last row itself is another",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::the_future_does_not_matter_law
