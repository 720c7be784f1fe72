// Laws of shared weights: a fused product is as good as three, a shared head as good as its copies.
#include <algorithm>
#include <iterator>

#include "oracle/case/graph.hpp"
#include "oracle/layers/heads.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/run_and_check.hpp"

// Law: one product of which q, k and v are slices is as good as three. With the rows of its weights given to a layer
// each, every output that both models have keeps its bits, and so do the rows of the weights' gradient of the last such
// product: behind it one product gives its input a gradient that three give in parts.
namespace tally::a_fused_product_equals_its_parts_law {
namespace {

void shape(Plan& plan) {
  attend(plan, QueriesAndKeys::fused);
  plan.execution.order = 0;  // a product's order may depend on its shape
  plan.execution.kernels.erase("gemm.split_k");
}

const Layer* named(const Model& model, const std::string& name) {
  const auto found = std::ranges::find(model.layers, name, &Layer::name);
  return found == model.layers.end() ? nullptr : &*found;
}

/// What it reads, by a name; empty: it has none.
std::string read_by(const Model& model, const Layer& layer) {
  if (!layer.inputs.empty()) return layer.inputs.front();
  const auto at = std::ranges::find(model.layers, layer.name, &Layer::name);
  return at == model.layers.begin() ? model_input_name : std::prev(at)->name;
}

/// The linear layer that a slice is of; nullptr: it is of something else, or trains with others.
const Layer* sliced_by(const Model& model, const Layer& slice) {
  const Layer* whole = slice.kind == "slice" ? named(model, read_by(model, slice)) : nullptr;
  return whole != nullptr && whole->kind == "linear" && whole->tied.empty() ? whole : nullptr;
}

/// Rows begin .. end - 1 of a weight or a bias.
Tensor rows_between(const Tensor& tensor, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> shape = tensor.shape;
  const std::size_t row = tensor.elements() / static_cast<std::size_t>(shape.front());
  shape.front() = end - begin;
  Tensor rows(tensor.dtype, shape);
  for (std::size_t i = 0; i < rows.elements(); ++i)
    rows.set_bits(i, tensor.bits(static_cast<std::size_t>(begin) * row + i));
  return rows;
}

/// Every slice a layer of its own.
Case parted(const Case& c) {
  Case parts = c;
  for (Layer& l : parts.model.layers) {
    const Layer* whole = sliced_by(c.model, l);
    if (whole == nullptr) continue;
    const std::int64_t begin = l.integer("begin"), end = l.integer("end");
    for (const auto& [name, tensor] : c.tensors)
      if (const std::size_t at = name.find(whole->name + "."); at != std::string::npos)
        parts.tensors[name.substr(0, at) + l.name + name.substr(at + whole->name.size())] =
            rows_between(tensor, begin, end);
    const Layer slice = l;
    l = *whole;
    l.name = slice.name;
    l.inputs = {read_by(c.model, *whole)};
    l.options["out"] = end - begin;
  }
  parts.execution.recomputed.clear();  // may name what goes
  std::erase_if(parts.model.layers, [&](const Layer& l) {
    const bool is_whole = std::ranges::any_of(c.model.layers, [&](const Layer& s) {
      const Layer* whole = sliced_by(c.model, s);
      return whole != nullptr && whole->name == l.name;
    });
    if (is_whole)
      std::erase_if(parts.tensors, [&](const auto& t) { return t.first.find(l.name + ".") != std::string::npos; });
    return is_whole;
  });
  return parts;
}

bool is_for(const Model& model) {
  const auto has_parts = [&](const Layer& l) {
    const Layer* whole = sliced_by(model, l);
    return whole != nullptr && !read_by(model, *whole).empty();
  };
  return std::ranges::any_of(model.layers, has_parts);
}

/// The slice that begins at the first feature, in the place of each.
Case with_first_slices(Case c) {
  for (Layer& l : c.model.layers) {
    if (l.kind != "slice") continue;
    l.options["end"] = l.integer("end") - l.integer("begin");
    l.options["begin"] = std::int64_t{0};
  }
  return c;
}

/// The last product of which there are slices.
const Layer* last_sliced(const Model& model) {
  const Layer* last = nullptr;
  for (const Layer& l : model.layers)
    if (const Layer* whole = sliced_by(model, l)) last = whole;
  return last;
}

void require_rows(Outcome& outcome, const Case& c, const Trace& fused, const Trace& parts, const std::string& at) {
  for (const Layer& l : c.model.layers) {
    const Layer* whole = sliced_by(c.model, l);
    if (whole == nullptr || whole != last_sliced(c.model)) continue;
    const std::string tap = at + "backward/d." + whole->name + ".weight";
    const Tensor *all = fused.find(tap), *part = parts.find(at + "backward/d." + l.name + ".weight");
    if (all == nullptr || part == nullptr) continue;
    require(outcome, rows_between(*all, l.integer("begin"), l.integer("end")) == *part, tap, "backward",
            "a product of its own gave " + l.name + " another gradient than the one it is a slice of");
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_for(c.model)) return not_for("slices of a linear layer's output");
  CheckedRun fused = run_and_check(c, subject);
  if (fused.outcome.status == Status::not_run) return fused.outcome;
  const CheckedRun parts = run_and_check(parted(c), subject);
  add(fused.outcome, parts.outcome);
  if (subject.executor == ExecutorKind::cuda)
    return vacuous(settled(std::move(fused.outcome)), "a library may add a product of another shape in another order");
  const PromisedBits promised(fused.trace);
  for (const Tap& tap : fused.trace.taps()) {
    const bool output = tap.name.window == 0 && tap.name.stage == "forward" && !tap.name.tensor.starts_with("in.");
    const Tensor* part = output && promised.of(tap.name) ? parts.trace.find(tap.name.view()) : nullptr;
    if (part != nullptr)
      require(fused.outcome, *part == tap.value, tap.name.text(), "forward",
              "a product of its own left other bits than the one it is a slice of");
  }
  for (std::size_t k = 0; k < c.windows.front().size() && promised.of({0, 0, "backward", "d"}); ++k)
    require_rows(fused.outcome, c, fused.trace, parts.trace, "w0/m" + std::to_string(k) + "/");
  return settled(std::move(fused.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_first_slices(c), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "a_fused_product_equals_its_parts",
    .family = "attention",
    .statement = "One product of which q, k and v are slices leaves the bits of three.",
    .shape = shape,
    .holds = holds,
    .control = "slices that all begin at the first feature give other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::a_fused_product_equals_its_parts_law

// Law: a head of k and v that several heads of q read is as good as a copy for each of them. With the rows of their
// weights copied, every other output and the gradient of q keep their bits.
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
