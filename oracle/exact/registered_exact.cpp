// Exact mathematics by the name of its kind: layers, losses, optimizers, decays, schedules.
#include "oracle/exact/registered_exact.hpp"

#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"

namespace tally::oracle {

template <class T>
const ExactLayer<T>& exact_layer(std::string_view kind) {
  return exact_of<T, ExactLayer>("layer", kind);
}

template <class T>
const ExactLoss<T>& exact_loss(std::string_view kind) {
  return exact_of<T, ExactLoss>("loss", kind);
}

template const ExactLayer<Real>& exact_layer<Real>(std::string_view);
template const ExactLayer<long double>& exact_layer<long double>(std::string_view);
template const ExactLayer<Ball>& exact_layer<Ball>(std::string_view);
template const ExactLayer<ShortBall>& exact_layer<ShortBall>(std::string_view);
template const ExactLoss<Real>& exact_loss<Real>(std::string_view);
template const ExactLoss<long double>& exact_loss<long double>(std::string_view);
template const ExactLoss<Ball>& exact_loss<Ball>(std::string_view);
template const ExactLoss<ShortBall>& exact_loss<ShortBall>(std::string_view);

template <class T>
Slot<T> updated(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient,
                const Slot<T>& slot) {
  const auto tensors = state_of(optimizer);
  Slot<T> begun = slot;
  begun.state.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (begun.state[i].size() == 0 && !tensors[i]->begins_with_gradient && !reads_whole_tensors(optimizer))
      begun.state[i] = Matrix<T>::Zero(gradient.rows(), gradient.cols());
  return exact_of<T, ExactStep>("optimizer", optimizer.kind)(optimizer, rate, step, gradient, std::move(begun));
}

template Slot<Real> updated(const Choice&, const Real&, std::int64_t, const Matrix<Real>&, const Slot<Real>&);
template Slot<long double> updated(const Choice&, const long double&, std::int64_t, const Matrix<long double>&,
                                   const Slot<long double>&);
template Slot<Ball> updated(const Choice&, const Ball&, std::int64_t, const Matrix<Ball>&, const Slot<Ball>&);
template Slot<ShortBall> updated(const Choice&, const ShortBall&, std::int64_t, const Matrix<ShortBall>&,
                                 const Slot<ShortBall>&);

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

template <class T>
T learning_rate(const Choice& schedule, std::int64_t step) {
  return exact_of<T, ExactRate>("learning_rate", schedule.kind)(schedule, step);
}

template Real learning_rate<Real>(const Choice&, std::int64_t);
template long double learning_rate<long double>(const Choice&, std::int64_t);
template Ball learning_rate<Ball>(const Choice&, std::int64_t);
template ShortBall learning_rate<ShortBall>(const Choice&, std::int64_t);

}  // namespace tally::oracle
