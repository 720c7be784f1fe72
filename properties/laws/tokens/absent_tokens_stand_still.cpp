// Law: absent tokens stand still. The gradient of an embedding is exactly 0 in the rows of tokens that do not occur in
// the window; without decay, clipping by a norm and state of the optimizer those rows keep their bits.
#include <set>

#include "oracle/case/graph.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::absent_tokens_stand_still_law {
namespace {

constexpr const char* table = "wte.weight";

void shape(Plan& plan) {
  read_tokens(plan);
  plan.tokens.tied = false;  // else a product reaches every row
  plan.input = plan.outputs = std::max<std::int64_t>(plan.input, 8);
  plan.recipe.weight_decay = choice("weight_decay", "none");
  if (clips_by_norm(plan.recipe.clip)) plan.recipe.clip = choice("clip", "none");  // an infinite one makes NaN of 0
  plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{"0"}}});
}

bool stands_still(const Case& c) {
  return c.model.tokens && c.tensors.contains(table) && shared_parameters(c.model).empty() &&
         c.recipe.weight_decay.kind == "none" && !clips_by_norm(c.recipe.clip) && state_of(c.recipe.optimizer).empty();
}

std::set<std::int64_t> tokens_seen(const Case& c, std::size_t window) {
  std::set<std::int64_t> seen;
  std::int64_t rows = 0;
  for (const std::int64_t size : c.windows[window]) rows += size;
  const std::int64_t first = first_row(c, window);
  for (std::int64_t row = first; row < first + rows; ++row)
    seen.insert(c.tensors.at("tokens").integer(static_cast<std::size_t>(row)));
  return seen;
}

/// Whether row `token` of both is the same, bit for bit; of `after` alone: all zeros.
bool row_is(const Tensor& after, const Tensor* before, std::int64_t token) {
  const auto width = static_cast<std::size_t>(after.shape[1]), first = static_cast<std::size_t>(token) * width;
  for (std::size_t i = first; i < first + width; ++i)
    if (before == nullptr ? after.value(i) != 0 : after.bits(i) != before->bits(i)) return false;
  return true;
}

void require_rest(Outcome& outcome, const Case& c, const Trace& trace) {
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::set<std::int64_t> seen = tokens_seen(c, w);
    const std::string window = "w" + std::to_string(w) + "/";
    const Tensor* gradient = trace.find(window + "unscale/d." + table);
    const Tensor* before = trace.find(window + "optimizer/in." + table);
    const Tensor* after = trace.find(window + "optimizer/" + table);
    for (std::int64_t token = 0; token < c.model.input; ++token) {
      if (seen.contains(token)) continue;
      if (gradient != nullptr && !row_is(*gradient, nullptr, token))
        require(outcome, false, window + "unscale/d." + table, "backward",
                "token " + std::to_string(token) + " does not occur, and has a gradient");
      if (before != nullptr && after != nullptr && !row_is(*after, before, token))
        require(outcome, false, window + "optimizer/" + table, "optimizer",
                "token " + std::to_string(token) + " does not occur, and its row moved");
    }
  }
}

bool any_absent(const Case& c) {
  for (std::size_t w = 0; w < c.windows.size(); ++w)
    if (std::ssize(tokens_seen(c, w)) < c.model.input) return true;
  return false;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!stands_still(c))
    return not_for("an embedding called wte, its table its own, without decay and without state of the optimizer");
  CheckedRun checked = run_and_check(c, subject);
  if (checked.outcome.status == Status::not_run) return checked.outcome;
  require_rest(checked.outcome, c, checked.trace);
  Outcome outcome = settled(std::move(checked.outcome));
  return any_absent(c) ? outcome : vacuous(std::move(outcome), "every token occurs");
}

/// A token that occurs has a gradient.
bool differs(const Case& c, const RunOptions& subject) {
  const Trace trace = run(c, subject);
  const Tensor* gradient = trace.find(std::string("w0/unscale/d.") + table);
  if (gradient == nullptr) return false;
  for (const std::int64_t token : tokens_seen(c, 0))
    if (!row_is(*gradient, nullptr, token)) return true;
  return false;
}

const RegisterLaw registered{{
    .name = "absent_tokens_stand_still",
    .family = "tokens",
    .statement = "Rows of an embedding whose tokens do not occur have a gradient of exactly 0 and keep their bits.",
    .shape = shape,
    .holds = holds,
    .control = "a token that occurs has a gradient",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::absent_tokens_stand_still_law
