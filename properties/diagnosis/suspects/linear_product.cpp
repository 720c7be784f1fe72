#include "properties/diagnosis/suspects/linear_product.hpp"

namespace tally {
namespace {

/// The operands of the linear layer whose output this is.
struct Product {
  Values x, weight, bias;
  std::size_t rows, in, out;
};

std::optional<Product> product_of(const Evidence& evidence, const HeldTensor& held) {
  const Case& c = evidence.c;
  const auto read = [&](const std::string& tensor) {
    return evidence.tap(held.name.window, held.name.micro_batch, "forward", "in." + tensor).value_or(Values{});
  };
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string label = label_of(c.model, i);
    if (c.model.layers[i].kind != "linear" || held.name.tensor != label + ".y") continue;
    Product p{read(label + ".x"), read(label + ".weight"), read(label + ".bias"), 0, 0, 0};
    p.in = static_cast<std::size_t>(features_before(c.model, i));
    p.out = static_cast<std::size_t>(features_after(c.model, i));
    p.rows = p.x.size() / p.in;
    if (p.rows * p.out == held.got.size() && p.weight.size() == p.in * p.out) return p;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Values> linear_product(const Evidence& evidence, const HeldTensor& held,
                                     const std::function<double(double sum, double x, double w)>& add) {
  const auto p = product_of(evidence, held);
  if (!p) return std::nullopt;
  Values y(held.got.size());
  for (std::size_t i = 0; i < p->rows; ++i) {
    for (std::size_t j = 0; j < p->out; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < p->in; ++k) sum = add(sum, p->x[i * p->in + k], p->weight[j * p->in + k]);
      y[i * p->out + j] = p->bias.empty() ? sum : rounded_to(held.dtype, sum) + p->bias[j];
    }
  }
  return y;
}

}  // namespace tally
