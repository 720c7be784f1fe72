#include "properties/diagnosis/suspects/weight_gradient.hpp"

#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {

std::optional<Values> weight_gradient(const Evidence& evidence, const HeldTensor& held,
                                      const std::function<std::size_t(std::size_t)>& rows,
                                      const std::function<double(double)>& operand) {
  const auto layer = layer_at(evidence, held, "d.", "linear", ".weight");
  if (!layer) return std::nullopt;
  const std::string label = label_of(evidence.c.model, *layer);
  const auto dy = evidence.tap(held.name.window, held.name.micro_batch, "backward", "in.d." + label + ".y");
  const auto x = evidence.tap(held.name.window, held.name.micro_batch, "backward", "in." + label + ".x");
  const auto in = static_cast<std::size_t>(features_before(evidence.c.model, *layer));
  const std::size_t out = held.got.size() / in;
  if (!dy || !x || dy->size() / out != x->size() / in) return std::nullopt;
  Values gradient(held.got.size(), 0.0);
  for (std::size_t row = 0; row < rows(x->size() / in); ++row) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] += operand((*dy)[row * out + i / in]) * operand((*x)[row * in + i % in]);
    }
  }
  return gradient;
}

}  // namespace tally
