#include "oracle/case/optimizer_state.hpp"
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle {

template <class T>
Slot<T> updated(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient,
                const Slot<T>& slot) {
  const auto tensors = state_of(optimizer);
  Slot<T> begun = slot;
  begun.state.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (begun.state[i].size() == 0 && !tensors[i]->begins_with_gradient)
      begun.state[i] = Matrix<T>::Zero(gradient.rows(), gradient.cols());
  return exact_of<T, ExactStep>("optimizer", optimizer.kind)(optimizer, rate, step, gradient, std::move(begun));
}

template Slot<Real> updated(const Choice&, const Real&, std::int64_t, const Matrix<Real>&, const Slot<Real>&);
template Slot<long double> updated(const Choice&, const long double&, std::int64_t, const Matrix<long double>&,
                                   const Slot<long double>&);
template Slot<Ball> updated(const Choice&, const Ball&, std::int64_t, const Matrix<Ball>&, const Slot<Ball>&);
template Slot<ShortBall> updated(const Choice&, const ShortBall&, std::int64_t, const Matrix<ShortBall>&,
                                 const Slot<ShortBall>&);

}  // namespace tally::oracle
