// Law: a tied weight has the gradients of all uses, (add.3). Beside a twin whose linear layers have weights of their own,
// of the same bits, each use gives the gradient that the twin's parameter has, in every micro-batch of the first window,
// and the weight takes their sum. With a padding_index the look-ups of that row give nothing, and the product what it
// gave.
#include "oracle/case/graph.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/promised_bits.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

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
