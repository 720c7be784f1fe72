#include "properties/studies/rules/gradient_size.hpp"

#include <algorithm>
#include <cmath>

#include "properties/generators/choices.hpp"

namespace tally {
namespace {

void scale(Tensor& tensor, double by) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, by * tensor.value(i));
  tensor.drawing.reset();
}

/// Right in every row, and sure enough that the others' probabilities together are about `left`.
void be_sure(Case& c, double left) {
  Choice& loss = c.model.loss;
  loss.options["label_smoothing"] = Decimal{"0"};
  const auto ignored = loss.integer("ignore_index");
  Tensor& target = c.tensors.at("target");
  for (std::size_t i = 0; i < target.elements(); ++i) {
    if (target.integer(i) != ignored) target.set(i, 0);
  }
  target.drawing.reset();
  Tensor& bias = c.tensors.at(c.model.layers.back().name + ".bias");
  bias.set(0, bias.value(0) + std::log(static_cast<double>(bias.elements() - 1) / left));
  bias.drawing.reset();
}

}  // namespace

bool gradient_can_shrink(const Plan& plan) {
  const auto has_parameters = [](const Layer& layer) { return !layer.name.empty() && layer.kind != "dropout"; };
  if (plan.data == Data::exact) return false;  // smaller values would no longer be exact in 16 bits
  if (plan.loss.kind == "cross_entropy") return plan.output_bias && plan.outputs > 1;
  return std::none_of(plan.hidden.begin(), plan.hidden.end(), has_parameters);
}

Case with_gradient_times(Case c, int exponent) {
  if (exponent == 0) return c;
  const double by = std::ldexp(1.0, exponent);
  if (c.model.loss.kind == "cross_entropy") {
    be_sure(c, by);
    return c;
  }
  const std::string last = c.model.layers.back().name;
  for (const std::string& name : {last + ".weight", last + ".bias", std::string("target")}) {
    if (c.tensors.contains(name)) scale(c.tensors.at(name), by);
  }
  if (c.recipe.loss_scale.kind == "dynamic") {
    auto& initial = std::get<Decimal>(c.recipe.loss_scale.options.at("initial"));
    initial = decimal(initial.to_double() / by);
  }
  return c;
}

double gradient_size(const Case& c, const Trace& trace) {
  double squares = 0, elements = 0;
  for (std::size_t w = 0; w < c.windows.size() && elements == 0; ++w) {
    for (const std::string& parameter : parameters_of(c.model)) {
      const Tensor* gradient = trace.find(TapView{static_cast<int>(w), -1, "unscale", "d." + parameter});
      for (std::size_t i = 0; gradient && i < gradient->elements(); ++i, ++elements) {
        squares += gradient->value(i) * gradient->value(i);
      }
    }
  }
  return elements == 0 ? 0 : std::sqrt(squares / elements);
}

}  // namespace tally
