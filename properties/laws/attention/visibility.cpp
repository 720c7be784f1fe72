// Laws of what a row sees: no other sequence, no future, and positions by their distance alone.
#include <algorithm>
#include <array>

#include "oracle/case/graph.hpp"
#include "oracle/case/rows.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/judge/two_runs.hpp"
#include "properties/laws/run_and_check.hpp"

// Law: sequences do not meet. Other tokens in the first sequence of a micro-batch change no bit of any other sequence's
// rows, nor of their gradients, though kernels handle them in one call.
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

// Law: the future does not matter. Where attention is causal, another last token of a sequence changes no bit of the
// rows before it, and none of their gradients, as the last row is scored by nothing.
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

// Law: rotary positions are relative. With every position of a sequence further by the same number, what the first
// attention leaves is the same, (rotary.1) turning q and k alike: each run keeps its bounds, and the two are no further
// apart than both bounds allow.
namespace tally::rotary_is_relative_law {
namespace {

constexpr std::array<std::int64_t, 3> further{50, 2048, 65536};

void shape(Plan& plan) { attend(plan, QueriesAndKeys::turned); }

bool is_rotary(const Model& model, const std::string& name) {
  return std::ranges::any_of(model.layers, [&](const Layer& l) { return l.name == name && l.kind == "rotary"; });
}

/// The first attention, where nothing before it but rotary layers reads positions.
const Layer* first_attention(const Model& model) {
  for (const Layer& l : model.layers) {
    if (l.kind == "attention") return is_rotary(model, l.inputs[0]) && is_rotary(model, l.inputs[1]) ? &l : nullptr;
    if (l.kind == "position_embedding") return nullptr;
  }
  return nullptr;
}

Case moved(Case c, std::int64_t by, std::int64_t apart = 1) {
  Tensor positions = positions_of(c);
  for (std::size_t i = 0; i < positions.elements(); ++i)
    positions.set_bits(i, static_cast<std::uint64_t>(positions.integer(i) * apart + by));
  positions.drawing.reset();
  c.tensors["positions"] = std::move(positions);
  return c;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const Layer* attention = first_attention(c.model);
  if (attention == nullptr) return not_for("a first attention whose q and k turn, and no other positions");
  CheckedRun near = run_and_check(c, subject);
  if (near.outcome.status == Status::not_run) return near.outcome;
  const Case far_case = moved(c, further[c.tensors.at("tokens").elements() % further.size()]);
  const CheckedRun far = run_and_check(far_case, subject);
  add(near.outcome, far.outcome);
  const auto expected = end_to_end_expectations(c, near.trace),
             expected_far = end_to_end_expectations(far_case, far.trace);
  for (std::size_t k = 0; k < c.windows.front().size(); ++k) {
    const std::string tap = "w0/m" + std::to_string(k) + "/forward/" + attention->name + ".y";
    const Tensor *a = near.trace.find(tap), *b = far.trace.find(tap);
    if (a == nullptr || b == nullptr || !expected.contains(tap) || !expected_far.contains(tap)) continue;
    add(near.outcome, relation_check(tap, "forward", expected.at(tap), *a, expected_far.at(tap), *b));
  }
  return settled(std::move(near.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(moved(c, 1), subject), run(moved(c, 2, 3), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "rotary_is_relative",
    .family = "attention",
    .statement = "Positions that are all further by the same number leave the same attention, within both bounds.",
    .shape = shape,
    .holds = holds,
    .control = "positions three times as far apart give other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::rotary_is_relative_law
