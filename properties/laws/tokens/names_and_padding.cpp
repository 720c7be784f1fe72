// Laws of names and padding: neither leaves a trace.
#include <algorithm>

#include "oracle/case/batch.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: the names of tokens do not matter. With tokens and the rows of the embedding permuted alike, every output keeps
// its bits, and the rows of its gradient are the same rows elsewhere.
namespace tally::names_of_tokens_do_not_matter_law {
namespace {

constexpr const char* table = "wte.weight";

void shape(Plan& plan) {
  read_tokens(plan);
  plan.tokens.tied = false;                   // else the classes would have other names too
  plan.recipe.clip = choice("clip", "none");  // a norm adds its elements in another order, and so do means of rows
  if (reads_whole_tensors(plan.recipe.optimizer)) plan.recipe.optimizer = choice("optimizer", "adam");
}

bool is_for(const Case& c) {
  return c.model.tokens && c.tensors.contains(table) && shared_parameters(c.model).empty() &&
         c.recipe.clip.kind != "global_norm" && !reads_whole_tensors(c.recipe.optimizer);
}

std::int64_t renamed(const Case& c, std::int64_t token) { return (token + 1) % c.model.input; }

/// The rows of the table where their new names say.
Tensor with_renamed_rows(const Case& c, const Tensor& rows) {
  Tensor moved(rows.dtype, rows.shape);
  const auto width = static_cast<std::size_t>(rows.shape[1]);
  for (std::size_t i = 0; i < rows.elements(); ++i)
    moved.set_bits(static_cast<std::size_t>(renamed(c, static_cast<std::int64_t>(i / width))) * width + i % width,
                   rows.bits(i));
  return moved;
}

Case with_renamed_tokens(Case c, bool rows_too) {
  Tensor& tokens = c.tensors.at("tokens");
  for (std::size_t row = 0; row < tokens.elements(); ++row)
    tokens.set_bits(row, static_cast<std::uint64_t>(renamed(c, tokens.integer(row))));
  tokens.drawing.reset();
  for (auto& [name, tensor] : c.tensors)
    if (rows_too && name.ends_with(table)) tensor = with_renamed_rows(c, tensor);  // its state too
  return c;
}

void require_same_rows(Outcome& outcome, const Case& c, const Trace& before, const Trace& after) {
  const PromisedBits promised(before);
  bool compared = false;
  for (const Tap& tap : before.taps()) {
    const bool is_gradient = tap.name.stage == "unscale" && tap.name.tensor == std::string("d.") + table;
    if (!is_gradient || !promised.of(tap.name)) continue;
    compared = true;
    const Tensor* other = after.find(tap.name.view());
    const bool same = other != nullptr && *other == with_renamed_rows(c, tap.value);
    require(outcome, same, tap.name.text(), "backward", "other names of the tokens changed the gradient of the table");
  }
  if (!compared) no_promise(outcome, promised, "unscale");
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_for(c)) return not_for("an embedding called wte, its table its own, each element stepped by itself");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  const CheckedRun other = run_and_check(with_renamed_tokens(c, true), subject);
  add(straight.outcome, other.outcome);
  require_equal_bits(straight.outcome, straight.trace, other.trace, {"loss"}, "other names of the tokens changed it");
  require_same_rows(straight.outcome, c, straight.trace, other.trace);
  return settled(std::move(straight.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_renamed_tokens(c, false), subject), {"loss"});
}

const RegisterLaw registered{{
    .name = "names_of_tokens_do_not_matter",
    .family = "tokens",
    .statement = "Tokens and the rows of their table under other names leave the same bits.",
    .shape = shape,
    .holds = holds,
    .control = "with the rows left where they are the loss is another",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::names_of_tokens_do_not_matter_law

// Law: padding leaves nothing. The rows of a batch hold the same bits packed, padded on the right or the left with any
// token, and sequence by sequence, each in a call of its own; and what a row of padding gives back is exactly 0, which
// the lenses hold it to.
namespace tally::padding_leaves_nothing_law {
namespace {

/// Rows see those behind them, where padding may stand, and none is dropped.
void look_ahead(Plan& plan) {
  for (Layer& l : plan.hidden) {
    if (l.kind != "attention") continue;
    l.options["causal"] = false;
    l.options["window"] = std::int64_t{0};
    l.options["p"] = Decimal{"0"};
  }
}

/// Two plans of three have attention, which looks ahead in half of these. The first micro-batch has rows for a second
/// sequence, of another length. Products add in one order, whatever the number of their rows.
void shape(Plan& plan) {
  if (plan.seed % 3 == 0)
    read_tokens(plan);
  else
    attend(plan);
  if (plan.seed % 2 == 0) look_ahead(plan);
  auto& first = plan.windows.front().front();
  first = std::max(first, plan.tokens.longest + 1);
  plan.normalisation = Normalisation::window_items;
  plan.execution.order = 0;
}

bool is_for(const Case& c) {
  return c.model.tokens && c.model.loss.kind == "cross_entropy" && c.normalisation == Normalisation::window_items;
}

/// The same rows in another layout: where each of them stands there.
struct Layout {
  std::string name;
  Case c;
  std::vector<std::int64_t> places;
};

Layout filled_up(const Case& c, const std::string& name, const Padding& padding) {
  PaddedCase made = padded(c, padding);
  Layout layout{name, std::move(made.c), {}};
  for (std::size_t row = 0; row < made.padding.size(); ++row)
    if (!made.padding[row]) layout.places.push_back(static_cast<std::int64_t>(row));
  return layout;
}

std::vector<Layout> layouts_of(const Case& c) {
  Layout alone{"alone", with_sequences_alone(c), {}};
  for (std::int64_t row = 0; row < rows_of(c); ++row) alone.places.push_back(row);
  return {filled_up(c, "padded on the right", {PaddedSide::right, 1, 0}),
          filled_up(c, "padded on the left", {PaddedSide::left, 4, c.model.input - 1}), std::move(alone)};
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_for(c)) return not_for("tokens, a loss over classes, and factors by the window's items");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  const std::vector<bool> all(static_cast<std::size_t>(rows_of(c)), true);
  bool held = true;
  for (const Layout& layout : layouts_of(c)) {
    const CheckedRun other = run_and_check(layout.c, subject);
    add(straight.outcome, other.outcome);
    const Trace moved = rows_as_in(c, straight.trace, layout.c, other.trace, layout.places);
    held = require_equal_rows(straight.outcome, c, straight.trace, moved, all, layout.name + " a row has other bits") &&
           held;
  }
  Outcome outcome = settled(std::move(straight.outcome));
  return held ? outcome : vacuous(std::move(outcome), "no row is to keep its bits");
}

/// A token that is no padding.
bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject),
                     run(with_other_tokens(c, std::vector<bool>(static_cast<std::size_t>(rows_of(c)), true)), subject),
                     {"forward"});
}

const RegisterLaw registered{{
    .name = "padding_leaves_nothing",
    .family = "tokens",
    .statement = "Rows hold the same bits packed, padded on either side with any token, and sequence by sequence.",
    .shape = shape,
    .holds = holds,
    .control = "other tokens in its rows leave other bits",
    .differs = differs,
    .weight = 0.35,
}};

}  // namespace
}  // namespace tally::padding_leaves_nothing_law
