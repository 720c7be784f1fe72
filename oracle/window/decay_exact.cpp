#include <algorithm>

#include "oracle/real/functions.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {
namespace {

bool of_norm(const Model& model, std::string_view layer_name) {
  return std::any_of(model.layers.begin(), model.layers.end(), [layer_name](const Layer& layer) {
    return layer.name == layer_name && (layer.kind == "batch_norm" || layer.kind == "layer_norm");
  });
}

}  // namespace

bool decays(const Model& model, const Choice& weight_decay, std::string_view parameter) {
  if (weight_decay.kind == "none") return false;
  const std::size_t dot = parameter.rfind('.');
  for (const std::string& excluded : weight_decay.texts("exclude")) {
    if (excluded == "bias" && parameter.substr(dot + 1) == "bias") return false;
    if (excluded == "norm" && of_norm(model, parameter.substr(0, dot))) return false;
  }
  return true;
}

template <class T>
Matrix<T> decayed_gradient(const Choice& weight_decay, const Matrix<T>& gradient, const Matrix<T>& parameter) {
  return gradient + number<T>(weight_decay.number("lambda")) * parameter;
}

template <class T>
Matrix<T> decayed_parameter(const Choice& weight_decay, const T& rate, const Matrix<T>& parameter) {
  return parameter * T(1 - rate * number<T>(weight_decay.number("lambda")));
}

template Matrix<Real> decayed_gradient(const Choice&, const Matrix<Real>&, const Matrix<Real>&);
template Matrix<long double> decayed_gradient(const Choice&, const Matrix<long double>&, const Matrix<long double>&);
template Matrix<Ball> decayed_gradient(const Choice&, const Matrix<Ball>&, const Matrix<Ball>&);
template Matrix<Real> decayed_parameter(const Choice&, const Real&, const Matrix<Real>&);
template Matrix<long double> decayed_parameter(const Choice&, const long double&, const Matrix<long double>&);
template Matrix<Ball> decayed_parameter(const Choice&, const Ball&, const Matrix<Ball>&);

}  // namespace tally::oracle
