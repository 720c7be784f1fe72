#include <algorithm>

#include "oracle/case/kinds.hpp"
#include "oracle/layers/contract.hpp"
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle {
namespace {

bool of_norm(const Model& model, std::string_view layer_name) {
  return std::any_of(model.layers.begin(), model.layers.end(),
                     [layer_name](const Layer& layer) { return layer.name == layer_name && is_norm(layer); });
}

/// Whether the parameter is a table that rows are looked up in; a tied weight is one.
bool of_table(const Model& model, std::string_view layer_name) {
  return std::any_of(model.layers.begin(), model.layers.end(), [layer_name](const Layer& layer) {
    return layer.name == layer_name && looks_up(contract_of("layer", layer));
  });
}

}  // namespace

bool decays(const Model& model, const Choice& weight_decay, std::string_view parameter) {
  if (!tally::decays(weight_decay)) return false;
  const std::size_t dot = parameter.rfind('.');
  for (const std::string& excluded : weight_decay.texts("exclude")) {
    if (excluded == "bias" && parameter.substr(dot + 1) == "bias") return false;
    if (excluded == parameter) return false;
    if (excluded == "norm" && of_norm(model, parameter.substr(0, dot))) return false;
    if (excluded == "embedding" && of_table(model, parameter.substr(0, dot))) return false;
  }
  return true;
}

template <class T>
Matrix<T> decayed(const Choice& weight_decay, const T& rate, const Matrix<T>& gradient, const Matrix<T>& parameter) {
  return exact_of<T, ExactDecay>("weight_decay", weight_decay.kind)(weight_decay, rate, gradient, parameter);
}

template Matrix<Real> decayed(const Choice&, const Real&, const Matrix<Real>&, const Matrix<Real>&);
template Matrix<long double> decayed(const Choice&, const long double&, const Matrix<long double>&,
                                     const Matrix<long double>&);
template Matrix<Ball> decayed(const Choice&, const Ball&, const Matrix<Ball>&, const Matrix<Ball>&);
template Matrix<ShortBall> decayed(const Choice&, const ShortBall&, const Matrix<ShortBall>&, const Matrix<ShortBall>&);

}  // namespace tally::oracle
