// Laws of tables: absent tokens, tied weights, look-ups.
#include <set>

#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/launch_designs.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: absent tokens stand still. The gradient of an embedding is exactly 0 in the rows of tokens that do not occur in
// the window; without decay, clipping by a norm and state of the optimizer those rows keep their bits.
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

// Law: a tied weight has the gradients of all uses, (add.3). Beside a twin whose linear layers have weights of their own,
// of the same bits, each use gives the gradient that the twin's parameter has, in every micro-batch of the first window,
// and the weight takes their sum. With a padding_index the look-ups of that row give nothing, and the product what it
// gave.
namespace tally::a_tied_weight_has_both_gradients_law {
namespace {

constexpr const char* table = "wte.weight";

void shape(Plan& plan) {
  read_tokens(plan);
  tie_more(plan);
  plan.execution.kernels.erase("linear.weight_gradient");  // a tied weight's product adds into no buffer
}

bool is_tied(const Case& c) {
  return !c.model.layers.empty() && c.model.layers.back().name == "out" && c.model.layers.back().tied == "wte";
}

Case untied(Case c) {
  std::map<std::string, Tensor> copies;
  for (Layer& user : c.model.layers) {
    if (user.tied.empty()) continue;
    user.tied.clear();
    for (const auto& [name, tensor] : c.tensors)
      if (name.ends_with(table))
        copies[name.substr(0, name.size() - std::string(table).size()) + user.name + ".weight"] = tensor;
  }
  c.tensors.merge(copies);
  return c;
}

/// The first token that is looked up is the one that pads: it occurs.
Case padded(Case c) {
  for (Layer& layer : c.model.layers)
    if (layer.name == "wte") layer.options["padding_index"] = c.tensors.at("tokens").integer(0);
  return c;
}

void require_all(Outcome& outcome, const Case& c, const Trace& tied, const Trace& twin) {
  const PromisedBits promised(tied);
  const Model apart = untied(c).model;
  const std::vector<SharedParameter> shared = shared_parameters(c.model);
  bool compared = false;
  for (int k = 0; k < std::ssize(c.windows.front()); ++k) {
    for (const std::size_t user : shared.front().users) {
      const TapName name{0, k, "backward", gradient_name(c.model, user, "weight")},
          single{0, k, "backward", gradient_name(apart, user, "weight")};
      const Tensor *given = tied.find(name.view()), *alone = twin.find(single.view());
      if (given == nullptr || alone == nullptr || !promised.of(name)) continue;  // the lenses say what is missing
      compared = true;
      require(outcome, *given == *alone, name.text(), "backward",
              "a use of the tied weight gives another gradient than alone");
    }
  }
  if (!compared) no_promise(outcome, promised, "backward");
}

CheckedRun beside_its_twin(const Case& c, const RunOptions& subject) {
  CheckedRun tied = run_and_check(c, subject);
  if (tied.outcome.status == Status::not_run) return tied;
  const CheckedRun twin = run_and_check(untied(c), subject);
  add(tied.outcome, twin.outcome);
  require_all(tied.outcome, c, tied.trace, twin.trace);
  return tied;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_tied(c)) return not_for("a last layer called out that is tied to wte");
  CheckedRun tied = beside_its_twin(c, subject);
  if (tied.outcome.status == Status::not_run) return tied.outcome;
  add(tied.outcome, beside_its_twin(padded(c), subject).outcome);
  return settled(std::move(tied.outcome));
}

/// The twin's table has the gradient of the look-ups alone.
bool differs(const Case& c, const RunOptions& subject) {
  const Trace tied = run(c, subject), twin = run(untied(c), subject);
  const std::string name = std::string("w0/unscale/d.") + table;
  const Tensor *both = tied.find(name), *alone = twin.find(name);
  return both != nullptr && alone != nullptr && !(*both == *alone);
}

const RegisterLaw registered{{
    .name = "a_tied_weight_has_both_gradients",
    .family = "tokens",
    .statement = "The gradient of a weight that is looked up and multiplied by is the sum of what both uses give.",
    .shape = shape,
    .holds = holds,
    .control = "the look-ups alone give another gradient",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::a_tied_weight_has_both_gradients_law

// Law: every kernel of a table keeps its bound on every way of its launch, in every precision.
namespace tally::every_look_up_keeps_its_bound_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& table = other.tensors.at("wte.weight");
  for (std::size_t i = 0; i < table.elements(); ++i) table.set(i, 1 - table.value(i));
  table.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "every_look_up_keeps_its_bound",
    .family = "tokens",
    .statement = "Every kernel of a table keeps its bound on every way of its launch, in every precision.",
    .shape = design_look_ups,
    .holds = holds,
    .control = "another table gives other bits",
    .differs = differs,
    .weight = 0.25,
    .designed = true,
}};

}  // namespace
}  // namespace tally::every_look_up_keeps_its_bound_law
