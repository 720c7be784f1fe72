// Laws of attention's kernels: blocks of keys change the rounding alone, and each keeps its bound.
#include <algorithm>

#include "kernels/device/kernel_registry.hpp"
#include "oracle/layers/heads.hpp"
#include "properties/generators/launch_designs.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"

// Law: how attention goes through its keys changes the rounding, and nothing else. Every variant keeps its own bounds;
// where all scores are 0 and a row sees one key or two, the weights are exact, and every variant leaves the same bits.
namespace tally::blocks_change_rounding_only_law {
namespace {

const char* const operation = "attention.forward";

bool sees_few(const Plan& plan) { return plan.seed % 2 == 0; }

void shape(Plan& plan) {
  attend(plan, QueriesAndKeys::apart);
  plan.execution.kernels.erase(operation);
  if (!sees_few(plan)) return;
  plan.tokens.longest = 2;
  for (Layer& l : plan.hidden) {
    if (l.kind != "attention") continue;
    l.options["causal"] = false;
    if (drops_weights(l)) l.options["p"] = Decimal{"0.5"};
  }
}

/// Whether the queries are those of a linear layer, which may be 0.
bool has_own_queries(const Model& model, const Layer& attention) {
  const auto read = std::ranges::find(model.layers, attention.inputs.front(), &Layer::name);
  return read != model.layers.end() && read->kind == "linear" && read->tied.empty();
}

bool exact_weights(const Case& c) {
  const auto attentions = attention_layers(c.model);
  return std::ranges::all_of(c.sequences, [](std::int64_t length) { return length <= 2; }) &&
         std::ranges::all_of(attentions, [&](std::size_t i) {
           const double p = c.model.layers[i].number("p").to_double();  // 1 / (1 - p) is 1 or 2
           return has_own_queries(c.model, c.model.layers[i]) && (p == 0 || p == 0.5);
         });
}

/// All queries 0, and so are all scores.
Case without_queries(Case c) {
  for (const std::size_t i : attention_layers(c.model)) {
    const std::string name = c.model.layers[i].inputs.front();
    for (const char* tensor : {".weight", ".bias"}) {
      const auto found = c.tensors.find(name + tensor);
      if (found == c.tensors.end()) continue;
      found->second = Tensor(found->second.dtype, found->second.shape);
    }
  }
  return c;
}

Case with_variant(Case c, const std::string& variant) {
  c.execution.kernels[operation] = variant;
  return c;
}

/// Requires the same bits in the first window: a step gives the queries weights.
void require_same(Outcome& outcome, const Trace& expected, const Trace& got, const std::string& variant) {
  const PromisedBits promised(expected);
  for (const Tap& tap : expected.taps()) {
    const bool stage = tap.name.stage == "forward" || tap.name.stage == "backward";
    if (!stage || tap.name.window != 0 || !promised.of(tap.name)) continue;
    const Tensor* other = got.find(tap.name.view());
    require(outcome, other != nullptr && *other == tap.value, tap.name.text(), tap.name.stage,
            variant + " left other bits where all weights are exact");
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (attention_layers(c.model).empty() || c.execution.kernels.contains(operation))
    return not_for("attention, its kernel not named");
  const Case judged = exact_weights(c) ? without_queries(c) : c;
  CheckedRun straight = run_and_check(judged, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  for (const std::string& variant : shipped_variants(operation, subject.executor)) {
    const CheckedRun other = run_and_check(with_variant(judged, variant), subject);
    add(straight.outcome, other.outcome);
    if (exact_weights(c)) require_same(straight.outcome, straight.trace, other.trace, variant);
  }
  return settled(std::move(straight.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  for (const std::size_t i : attention_layers(c.model)) {
    Choice& l = other.model.layers[i];
    l.options["window"] = std::int64_t{l.integer("window") == 1 ? 0 : 1};
  }
  return bits_differ(run(c, subject), run(other, subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "blocks_change_rounding_only",
    .family = "attention",
    .statement = "Blocks of any number of keys change the rounding of attention, and nothing else.",
    .shape = shape,
    .holds = holds,
    .control = "a window of other rows gives other bits",
    .differs = differs,
    .weight = 0.35,
}};

}  // namespace
}  // namespace tally::blocks_change_rounding_only_law

// Law: every kernel of attention keeps its bound on every way of its launch, in every precision.
namespace tally::every_attention_keeps_its_bound_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& values = other.tensors.at("v.weight");
  for (std::size_t i = 0; i < values.elements(); ++i) values.set(i, 1 - values.value(i));
  values.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "every_attention_keeps_its_bound",
    .family = "attention",
    .statement = "Every kernel of attention keeps its bound on every way of its launch, in every precision.",
    .shape = design_attention,
    .holds = holds,
    .control = "other weights of the values give other bits",
    .differs = differs,
    .weight = 0.875,  // all designs in every format
    .designed = true,
}};

}  // namespace
}  // namespace tally::every_attention_keeps_its_bound_law
