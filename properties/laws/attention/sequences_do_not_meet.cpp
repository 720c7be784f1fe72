// Law: sequences do not meet. Other tokens in the first sequence of a micro-batch change no bit of any other sequence's
// rows, nor of their gradients, though kernels handle them in one call.
#include <algorithm>

#include "oracle/case/sequences.hpp"
#include "properties/generators/attention_plan.hpp"
#include "properties/laws/equal_rows.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::sequences_do_not_meet_law {
namespace {

/// The first sequence of a window is as long as may be: rows are left for others.
void shape(Plan& plan) {
  attend(plan);
  auto& first = plan.windows.front().front();
  first = std::max(first, plan.tokens.longest + 2);
}

/// The rows of the first sequence of every micro-batch.
std::vector<bool> first_sequences(const Case& c) {
  const std::vector<std::int64_t> places = places_in_sequences(c);
  std::vector<bool> rows(places.size(), false);
  std::size_t row = 0;
  for (const auto& window : c.windows) {
    for (const std::int64_t size : window) {
      const std::size_t begin = row, end = row + static_cast<std::size_t>(size);
      for (; row < end && (row == begin || places[row] != 0); ++row) rows[row] = true;
      row = end;
    }
  }
  return rows;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!c.model.tokens || c.model.input < 2 || attention_layers(c.model).empty())
    return not_for("attention over tokens, of two and more");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  std::vector<bool> kept = first_sequences(c);
  const CheckedRun other = run_and_check(with_other_tokens(c, kept), subject);
  add(straight.outcome, other.outcome);
  kept.flip();
  const bool held = require_equal_rows(straight.outcome, c, straight.trace, other.trace, kept,
                                       "the tokens of a sequence changed a row of another");
  Outcome outcome = settled(std::move(straight.outcome));
  return held ? outcome : vacuous(std::move(outcome), "no row is to keep its bits");
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_tokens(c, first_sequences(c)), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "sequences_do_not_meet",
    .family = "attention",
    .statement = "Other tokens in one sequence change no bit of another's rows, nor of their gradients.",
    .shape = shape,
    .holds = holds,
    .control = "the sequence itself is another",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::sequences_do_not_meet_law
