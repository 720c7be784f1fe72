// Over the elements g of all parameters' gradients.
// (clip.1)  norm = sqrt(sum g²), sum |g| or max |g|: the 2-, the 1- or the inf-norm
#include "oracle/case/kinds.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle {
namespace {

template <class T>
void add_to_norm(T& sum, NormOrder norm, const T& element) {
  const T size = magnitude(element);
  if (norm == NormOrder::one) sum += size;
  if (norm == NormOrder::two) sum += size * size;
  if (norm == NormOrder::largest) sum = larger(sum, size);
}

}  // namespace

NormOrder norm_of(const Choice& clip) {
  if (!clips_by_norm(clip)) return NormOrder::two;
  const std::string& norm = clip.text("norm");
  return norm == "inf" ? NormOrder::largest : norm == "1" ? NormOrder::one : NormOrder::two;
}

template <class T>
T gradient_norm(const Choice& clip, const Tensors<T>& gradients) {
  const NormOrder norm = norm_of(clip);
  T sum = 0;
  for (const auto& [name, gradient] : gradients)
    for (Eigen::Index i = 0; i < gradient.size(); ++i) add_to_norm(sum, norm, gradient(i));
  return norm == NormOrder::two ? T(sqrt(sum)) : sum;
}

template <class T>
T clip_coefficient(const Choice& clip, const T& norm) {
  return clips_by_norm(clip) ? exact_of<T, ExactClip>("clip", clip.kind).coefficient(clip, norm) : T(1);
}

template <class T>
Matrix<T> clipped(const Choice& clip, const T& coefficient, const Matrix<T>& gradient) {
  return clips(clip) ? exact_of<T, ExactClip>("clip", clip.kind).clipped(clip, coefficient, gradient) : gradient;
}

template Real gradient_norm<Real>(const Choice&, const Tensors<Real>&);
template long double gradient_norm<long double>(const Choice&, const Tensors<long double>&);
template Ball gradient_norm<Ball>(const Choice&, const Tensors<Ball>&);
template ShortBall gradient_norm<ShortBall>(const Choice&, const Tensors<ShortBall>&);
template Real clip_coefficient<Real>(const Choice&, const Real&);
template long double clip_coefficient<long double>(const Choice&, const long double&);
template Ball clip_coefficient<Ball>(const Choice&, const Ball&);
template ShortBall clip_coefficient<ShortBall>(const Choice&, const ShortBall&);
template Matrix<Real> clipped<Real>(const Choice&, const Real&, const Matrix<Real>&);
template Matrix<long double> clipped<long double>(const Choice&, const long double&, const Matrix<long double>&);
template Matrix<Ball> clipped<Ball>(const Choice&, const Ball&, const Matrix<Ball>&);
template Matrix<ShortBall> clipped<ShortBall>(const Choice&, const ShortBall&, const Matrix<ShortBall>&);

}  // namespace tally::oracle
