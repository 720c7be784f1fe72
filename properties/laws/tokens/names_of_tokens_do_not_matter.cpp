// Law: the names of tokens do not matter. With tokens and the rows of the embedding permuted alike, every output keeps
// its bits, and the rows of its gradient are the same rows elsewhere.
#include "oracle/case/graph.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/promised_bits.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::names_of_tokens_do_not_matter_law {
namespace {

constexpr const char* table = "wte.weight";

void shape(Plan& plan) {
  read_tokens(plan);
  plan.tokens.tied = false;                   // else the classes would have other names too
  plan.recipe.clip = choice("clip", "none");  // a norm adds its elements in another order
}

bool is_for(const Case& c) {
  return c.model.tokens && c.tensors.contains(table) && shared_parameters(c.model).empty() &&
         c.recipe.clip.kind != "global_norm";
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
  if (!is_for(c)) return not_for("an embedding called wte, its table its own, without clipping by a norm");
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
