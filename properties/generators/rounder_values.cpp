// Round numbers for the tensors of a case, and plans without what a training step declines.
#include <algorithm>
#include <cmath>
#include <vector>

#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/simpler_plans.hpp"

namespace tally {
namespace {

/// Nearest value with this many significant bits.
double with_bits(double value, int bits) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

int bits_of(double value) {
  for (int bits = 1; bits < 53; ++bits) {
    if (with_bits(value, bits) == value) return bits;
  }
  return 53;
}

double small_integer(double value) { return std::fmax(-2.0, std::fmin(2.0, std::nearbyint(value))); }

/// Ways to make a value rounder, the roundest first.
using Rounding = double (*)(double);
const std::vector<Rounding>& roundings() {
  static const std::vector<Rounding> all{
      [](double) { return 0.0; },
      [](double) { return 1.0; },
      [](double v) { return v < 0 ? -1.0 : 1.0; },
      small_integer,
      [](double v) { return std::nearbyint(v); },
      [](double v) { return with_bits(v, 1); },
      [](double v) { return with_bits(v, 2); },
      [](double v) { return with_bits(v, 4); },
      [](double v) { return with_bits(v, 8); },
  };
  return all;
}

bool may_change(const std::string& name) {
  return !name.ends_with("running_var") && !name.ends_with("item_weight") && !name.ends_with(".mask") &&
         name != "class_weight" && name != "step";
}

class Rounder {
 public:
  Rounder(Case c, int attempts, const std::function<bool(const Case&)>& still_fails)
      : case_(std::move(c)), attempts_(attempts), still_fails_(still_fails) {}

  Case run() {
    for (auto& [name, tensor] : Case(case_).tensors) {
      if (may_change(name)) round_whole(name);
    }
    for (bool rounder = true; rounder && attempts_ > 0;) {
      rounder = false;
      for (auto& [name, tensor] : Case(case_).tensors) {
        for (std::size_t i = 0; may_change(name) && i < tensor.elements(); ++i) rounder = round_one(name, i) || rounder;
      }
    }
    return std::move(case_);
  }

 private:
  /// Takes the tensor over if it is rounder and the case still fails with it.
  bool offer(const std::string& name, Tensor tensor) {
    const Tensor& now = case_.tensors.at(name);
    if (tensor == now || attempts_ <= 0) return false;
    --attempts_;
    tensor.drawing.reset();
    Case other = case_;
    other.tensors.at(name) = std::move(tensor);
    if (!validate(other).empty()) return false;  // a class beyond the last, say
    if (!still_fails_(other)) return false;
    case_ = std::move(other);
    return true;
  }

  void round_whole(const std::string& name) {
    for (const Rounding rounding : roundings()) {
      Tensor tensor = case_.tensors.at(name);
      for (std::size_t i = 0; i < tensor.elements(); ++i) {
        const bool ignored = tensor.dtype == Dtype::i64 && tensor.integer(i) < 0;
        if (!ignored) tensor.set(i, rounding(tensor.value(i)));
      }
      if (offer(name, std::move(tensor))) return;
    }
  }

  bool round_one(const std::string& name, std::size_t i) {
    const double before = case_.tensors.at(name).value(i);
    for (const Rounding rounding : roundings()) {
      const double value = rounding(before);
      if (roughness(value) >= roughness(before)) continue;
      Tensor tensor = case_.tensors.at(name);
      if (tensor.dtype == Dtype::i64 && before < 0) return false;  // an ignored row stays one
      tensor.set(i, value);
      if (offer(name, std::move(tensor))) return true;
    }
    return false;
  }

  Case case_;
  int attempts_;
  const std::function<bool(const Case&)>& still_fails_;
};

}  // namespace

int roughness(double value) {
  const double size = std::fabs(value);
  if (value == 0 || value == 1) return static_cast<int>(value);
  if (size <= 8 && size == std::nearbyint(size)) return 2;
  if (size >= 0x1p-6 && size <= 0x1p6 && bits_of(size) == 1) return 2;
  const int range = std::isfinite(size) ? std::abs(std::ilogb(size)) / 8 : 128;
  return 2 + bits_of(size) + range;
}

Case with_rounder_values(Case c, int attempts, const std::function<bool(const Case&)>& still_fails) {
  return Rounder(std::move(c), attempts, still_fails).run();
}

namespace {

/// Norms, dropout and sums are left out, and every other function is ReLU. Layers that read several others which are
/// not alike stay as they are.
std::vector<Layer> plain_layers(const std::vector<Layer>& layers) {
  if (std::ranges::any_of(layers, [](const Layer& l) { return !contract_of("layer", l).input_words.empty(); }))
    return layers;
  std::vector<Layer> plain = layers;
  take_out_if(
      plain, [](const Layer& each) { return is_norm(each) || each.kind == kinds::dropout || each.kind == kinds::add; });
  for (Layer& each : plain)
    if (each.kind != kinds::linear) each = layer("relu");
  return plain;
}

}  // namespace

Plan plainer(Plan plan, const Plainness& plain) {
  if (plain.formats) {
    plan.precision.compute = plan.precision.accumulate = plan.precision.master = Dtype::fp32;
    plan.precision.tf32 = false;
  }
  if (plain.layers) plan.hidden = plain_layers(plan.hidden);
  if (!plain.recipe) return plan;
  Recipe& recipe = plan.recipe;
  if (recipe.optimizer.kind != kinds::sgd) recipe.optimizer = choice("optimizer", "sgd");
  if (recipe.learning_rate.kind != kinds::constant)
    recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.125"}}});
  recipe.weight_decay = choice("weight_decay", "none");
  recipe.clip = choice("clip", "none");
  recipe.loss_scale = choice("loss_scale", "none");
  plan.loss = choice("loss", plan.loss.kind);
  plan.execution.recompute = false;
  return plan;
}

}  // namespace tally
