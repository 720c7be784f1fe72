// Law: a head of k and v that several heads of q read is as good as a copy for each of them. With the rows of their
// weights copied, every other output and the gradient of q keep their bits.
#include <algorithm>

#include "oracle/layers/attention.hpp"
#include "properties/generators/attention_plan.hpp"
#include "properties/laws/promised_bits.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::groups_equal_copies_law {
namespace {

void shape(Plan& plan) {
  attend(plan, QueriesAndKeys::apart);
  const bool wide = plan.seed % 2 == 0;
  for (std::size_t i = 0; i < plan.hidden.size(); ++i) {
    if (plan.hidden[i].kind != "attention") continue;
    plan.hidden[i].options["heads"] = std::int64_t{4};
    plan.hidden[i].options["kv_heads"] = std::int64_t{2};
    for (Layer& l : plan.hidden) {
      if (l.name == plan.hidden[i].inputs[0]) l.options["out"] = std::int64_t{wide ? 8 : 4};
      if (l.name == plan.hidden[i].inputs[1] || l.name == plan.hidden[i].inputs[2])
        l.options["out"] = std::int64_t{wide ? 4 : 2};
    }
  }
  plan.execution.order = 0;  // a product's order may depend on its shape
}

bool ends_with(const std::string& text, const std::string& end) { return text == end || text.ends_with("." + end); }

/// The rows of a head for every head that reads it, or, `tiled`, the heads one after another and again.
Tensor copied(const Tensor& weight, std::int64_t heads, std::int64_t groups, bool tiled) {
  std::vector<std::int64_t> shape = weight.shape;
  shape.front() = shape.front() / groups * heads;
  Tensor copies(weight.dtype, shape);
  const std::size_t part = weight.elements() / static_cast<std::size_t>(groups);
  for (std::size_t i = 0; i < copies.elements(); ++i) {
    const auto head = static_cast<std::int64_t>(i / part);
    const auto from = static_cast<std::size_t>(tiled ? head % groups : head * groups / heads);
    copies.set_bits(i, weight.bits(from * part + i % part));
  }
  return copies;
}

/// Whether layer i of the model is k or v of an attention layer, which is then given.
const Layer* reader_of_copies(const Model& model, const std::string& name) {
  for (const Layer& l : model.layers)
    if (l.kind == "attention" && (l.inputs[1] == name || l.inputs[2] == name)) return &l;
  return nullptr;
}

Case with_copies(const Case& c, bool tiled) {
  Case copies = c;
  for (Layer& l : copies.model.layers) {
    const Layer* attention = reader_of_copies(c.model, l.name);
    if (attention == nullptr) continue;
    const std::int64_t heads = attention->integer("heads"), groups = key_heads_of(*attention);
    l.options["out"] = l.integer("out") / groups * heads;
    for (auto& [name, tensor] : copies.tensors)
      if (ends_with(name, l.name + ".weight") || ends_with(name, l.name + ".bias"))
        tensor = copied(tensor, heads, groups, tiled);
  }
  for (Layer& l : copies.model.layers)
    if (l.kind == "attention") l.options["kv_heads"] = std::int64_t{0};
  return copies;
}

bool is_for(const Case& c) {
  for (const std::size_t i : attention_layers(c.model)) {
    const Layer& l = c.model.layers[i];
    for (const std::size_t j : {1, 2}) {
      const auto read = std::ranges::find(c.model.layers, l.inputs[j], &Layer::name);
      if (read == c.model.layers.end() || read->kind != "linear" || !read->tied.empty()) return false;
    }
    if (l.inputs[1] == l.inputs[2] || key_heads_of(l) == l.integer("heads")) return false;
  }
  return !attention_layers(c.model).empty();
}

/// What both models have: outputs, but those of k and v, and of the last attention, behind which copies add nothing up,
/// the gradient of q; in the first window.
bool in_both(const Case& c, const TapName& name) {
  if (name.window != 0) return false;
  if (name.stage == "backward") {
    const std::string& last = c.model.layers[attention_layers(c.model).back()].name;
    return name.tensor == "d." + last + ".q" || name.tensor == last + ".delta";
  }
  if (name.stage != "forward" || name.tensor.starts_with("in.")) return false;
  return std::ranges::none_of(c.model.layers, [&](const Layer& l) {
    return reader_of_copies(c.model, l.name) != nullptr && name.tensor == l.name + ".y";
  });
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_for(c)) return not_for("attention with fewer heads of k and v than of q, each a linear layer's");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  const CheckedRun other = run_and_check(with_copies(c, false), subject);
  add(straight.outcome, other.outcome);
  if (subject.executor == ExecutorKind::cuda)
    return vacuous(settled(std::move(straight.outcome)),
                   "a library may add a product of another shape in another order");
  const PromisedBits promised(straight.trace);
  for (const Tap& tap : straight.trace.taps()) {
    if (!in_both(c, tap.name) || !promised.of(tap.name)) continue;
    const Tensor* copy = other.trace.find(tap.name.view());
    require(straight.outcome, copy != nullptr && *copy == tap.value, tap.name.text(), tap.name.stage,
            "a copy of k and v for every head left other bits than a head that several read");
  }
  return settled(std::move(straight.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(with_copies(c, false), subject), run(with_copies(c, true), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "groups_equal_copies",
    .family = "attention",
    .statement = "A head of k and v that several heads read equals a copy for each of them.",
    .shape = shape,
    .holds = holds,
    .control = "copies in the other order give other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::groups_equal_copies_law
