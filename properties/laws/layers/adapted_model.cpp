// Laws of adapters: a zero B is the base model, and an adapter equals merged weights.
#include <cmath>

#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: an adapter whose B is 0 is the base model. Its sum is what the frozen layer gave, and so the loss is the base
// model's; A's gradient is exactly 0. B is what trains first.
namespace tally::a_zero_b_is_the_base_model_law {
namespace {

/// No number that is not finite: 0 times one is no 0.
void shape(Plan& plan) {
  add_adapters(plan);
  plan.values.clear();
  plan.gradient_magnitude = 1;
  plan.far_mean = false;
  plan.recipe.loss_scale = choice("loss_scale", "none");
}

Case with_zero_b(Case c) {
  for (const std::string& name : adapted_layers(c.model)) {
    Tensor& b = c.tensors.at(name + "_b.weight");
    b = Tensor(b.dtype, b.shape);
  }
  return c;
}

/// Every number of a tensor as a value: the sum makes a +0 of a -0.
bool same_values(const Tensor* a, const Tensor* b) {
  if (a == nullptr || b == nullptr || a->elements() != b->elements()) return false;
  for (std::size_t i = 0; i < a->elements(); ++i)
    if (!(a->value(i) == b->value(i))) return false;
  return true;
}

bool is_zero(const Tensor* tensor) {
  for (std::size_t i = 0; tensor != nullptr && i < tensor->elements(); ++i)
    if (tensor->value(i) != 0) return false;
  return tensor != nullptr;
}

bool is_finite(const Trace& trace, const std::string& at) {
  for (const Tap& tap : trace.taps())
    for (std::size_t i = 0; tap.name.text().starts_with(at) && i < tap.value.elements(); ++i)
      if (!std::isfinite(tap.value.value(i))) return false;
  return true;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const std::vector<std::string> adapted = adapted_layers(c.model);
  if (adapted.empty()) return not_for("a frozen layer with an adapter");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  const CheckedRun zero = run_and_check(with_zero_b(c), subject);
  add(straight.outcome, zero.outcome);
  for (std::size_t k = 0; k < c.windows.front().size(); ++k) {
    const std::string at = "w0/m" + std::to_string(k) + "/";
    if (!is_finite(zero.trace, at)) continue;
    for (const std::string& name : adapted) {
      const std::string sum = at + "forward/" + name + "_sum.y", a = at + "backward/d." + name + "_a.weight";
      require(straight.outcome, same_values(zero.trace.find(sum), zero.trace.find(at + "forward/" + name + ".y")), sum,
              "forward", "an adapter whose B is 0 changed what its layer gave");
      const Tensor* gradient = zero.trace.find(a);
      require(straight.outcome, gradient == nullptr || is_zero(gradient), a, "backward",
              "an adapter whose B is 0 has a gradient of A");
    }
  }
  return settled(std::move(straight.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_zero_b(c), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "a_zero_b_is_the_base_model",
    .family = "adapters",
    .statement = "An adapter whose B is 0 leaves what its frozen layer gave, and gives A exactly 0.",
    .shape = shape,
    .holds = holds,
    .control = "with another B the output is another",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::a_zero_b_is_the_base_model_law

// Law: an adapter equals merged weights. In whole numbers so small that every product and sum is exact in any format,
// a frozen W beside an adapter leaves the bits of the one layer W + s B A.
//   x, W, A and B are 1 or -1; of 4 features, rank 1 or 2 and s = 1/2, 1 or 2 the outputs stay within 20 and are halves.
namespace tally::an_adapter_equals_merged_weights_law {
namespace {

constexpr std::int64_t features = 4;
const std::string name = "fc1";

std::vector<Layer> adapted(std::int64_t out, std::int64_t rank, const Decimal& factor) {
  const auto linear = [](const char* called, std::int64_t outputs, const std::string& read) {
    Layer made = layer("linear", called, {{"out", outputs}, {"bias", false}});
    made.inputs = {read};
    return made;
  };
  Layer frozen = linear("fc1", out, "input"), scaled = layer("scale", "fc1_s", {{"factor", factor}});
  frozen.trainable = false;
  scaled.inputs = {"fc1_b"};
  return {frozen, linear("fc1_a", rank, "input"), linear("fc1_b", out, "fc1_a"), scaled,
          sum_of("fc1_sum", {"fc1", "fc1_s"})};
}

void shape(Plan& plan) {
  static const std::vector<std::string> factors{"0.5", "1", "2"};
  plan.input = features;
  plan.hidden = adapted(1 + static_cast<std::int64_t>(plan.seed % 5), 1 + static_cast<std::int64_t>(plan.seed % 2),
                        Decimal{factors[plan.seed % factors.size()]});
  plan.values.clear();
  plan.gradient_magnitude = 1;
}

bool is_for(const Case& c) {
  const auto& layers = c.model.layers;
  if (layers.size() != 6 || c.model.tokens || layers[3].kind != "scale") return false;
  return layers[0].name == name && layers[4].name == name + "_sum" && c.tensors.contains(name + "_b.weight");
}

void keep_signs(Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, tensor.value(i) < 0 ? -1 : 1);
  tensor.drawing.reset();
}

Case in_whole_numbers(Case c) {
  for (const char* tensor : {"x", "fc1.weight", "fc1_a.weight", "fc1_b.weight"}) keep_signs(c.tensors.at(tensor));
  return c;
}

/// One layer of the weights W + s B A, which trains.
Case merged(Case c) {
  auto& layers = c.model.layers;
  const double factor = layers[3].number("factor").to_double();
  Tensor& w = c.tensors.at("fc1.weight");
  const Tensor &a = c.tensors.at("fc1_a.weight"), &b = c.tensors.at("fc1_b.weight");
  const auto in = static_cast<std::size_t>(w.shape[1]), rank = static_cast<std::size_t>(a.shape[0]);
  for (std::size_t i = 0; i < w.elements(); ++i) {
    double sum = 0;
    for (std::size_t r = 0; r < rank; ++r) sum += b.value(i / in * rank + r) * a.value(r * in + i % in);
    w.set(i, w.value(i) + factor * sum);
  }
  w.drawing.reset();
  layers[0].trainable = true;
  layers.erase(layers.begin() + 1, layers.begin() + 5);
  c.execution.recomputed.clear();  // may name them
  std::erase_if(c.tensors, [](const auto& tensor) { return tensor.first.find("fc1_") != std::string::npos; });
  return c;
}

/// The adapter's factor is the same, its sum is not.
Case with_other_factor(Case c) {
  c.model.layers[3].options["factor"] = Decimal{"0.25"};
  return c;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_for(c)) return not_for("a first layer that is frozen, and its adapter without dropout");
  CheckedRun drawn = run_and_check(c, subject);
  if (drawn.outcome.status == Status::not_run) return drawn.outcome;
  const Case whole = in_whole_numbers(c);
  const CheckedRun apart = run_and_check(whole, subject), together = run_and_check(merged(whole), subject);
  add(drawn.outcome, apart.outcome);
  add(drawn.outcome, together.outcome);
  for (std::size_t k = 0; k < c.windows.front().size(); ++k) {
    const std::string at = "w0/m" + std::to_string(k) + "/forward/", tap = at + name + "_sum.y";
    const Tensor *got = apart.trace.find(tap), *expected = together.trace.find(at + name + ".y");
    const bool equal = got != nullptr && expected != nullptr &&  // a sum of nothing may be either zero
                       bitwise_check(tap, "forward", *expected, *got).status == Status::pass;
    require(drawn.outcome, equal, tap, "forward", "an adapter left other bits than the weights that it is merged into");
  }
  return settled(std::move(drawn.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  const Case whole = in_whole_numbers(c);
  return bits_differ(run(whole, subject), run(with_other_factor(whole), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "an_adapter_equals_merged_weights",
    .family = "adapters",
    .statement = "On exact data a frozen W beside an adapter leaves the bits of W + s B A.",
    .shape = shape,
    .holds = holds,
    .control = "another factor gives other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::an_adapter_equals_merged_weights_law
