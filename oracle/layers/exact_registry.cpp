#include "oracle/layers/register_exact.hpp"

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

}  // namespace tally::oracle
