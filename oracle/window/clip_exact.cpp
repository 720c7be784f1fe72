// Over the elements g of all parameters' gradients.
// (clip.1)  norm = sqrt(sum g²), sum |g| or max |g|: the 2-, the 1- or the inf-norm
#include "oracle/case/contract.hpp"
#include "oracle/exact/registered_exact.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle {
NormOrder norm_of(const Choice& clip) {
  if (!clips_by_norm(clip)) return NormOrder::two;
  const std::string& norm = clip.text("norm");
  return norm == "inf" ? NormOrder::largest : norm == "1" ? NormOrder::one : NormOrder::two;
}

template <class T>
void GradientNorm<T>::add(const Matrix<T>& gradient) {
  for (Eigen::Index i = 0; i < gradient.size(); ++i) {
    const T size = magnitude(gradient(i));
    if (order_ == NormOrder::one) sum_ += size;
    if (order_ == NormOrder::two) sum_ += size * size;
    if (order_ == NormOrder::largest) sum_ = larger(sum_, size);
  }
}

template <class T>
T GradientNorm<T>::of_all() const {
  return order_ == NormOrder::two ? T(sqrt(sum_)) : sum_;
}

template <class T>
T gradient_norm(const Choice& clip, const Tensors<T>& gradients) {
  GradientNorm<T> norm(clip);
  for (const auto& [name, gradient] : gradients) norm.add(gradient);
  return norm.of_all();
}

template class GradientNorm<long double>;

template <class T>
T clip_coefficient(const Choice& clip, const T& norm, std::int64_t step) {
  return clips_by_norm(clip) ? exact_of<T, ExactClip>("clip", clip.kind).coefficient(clip, norm, step) : T(1);
}

template <class T>
Matrix<T> clipped(const Choice& clip, const T& coefficient, const Matrix<T>& gradient) {
  return clips(clip) ? exact_of<T, ExactClip>("clip", clip.kind).clipped(clip, coefficient, gradient) : gradient;
}

template Real gradient_norm<Real>(const Choice&, const Tensors<Real>&);
template long double gradient_norm<long double>(const Choice&, const Tensors<long double>&);
template Ball gradient_norm<Ball>(const Choice&, const Tensors<Ball>&);
template ShortBall gradient_norm<ShortBall>(const Choice&, const Tensors<ShortBall>&);
template Real clip_coefficient<Real>(const Choice&, const Real&, std::int64_t);
template long double clip_coefficient<long double>(const Choice&, const long double&, std::int64_t);
template Ball clip_coefficient<Ball>(const Choice&, const Ball&, std::int64_t);
template ShortBall clip_coefficient<ShortBall>(const Choice&, const ShortBall&, std::int64_t);
template Matrix<Real> clipped<Real>(const Choice&, const Real&, const Matrix<Real>&);
template Matrix<long double> clipped<long double>(const Choice&, const long double&, const Matrix<long double>&);
template Matrix<Ball> clipped<Ball>(const Choice&, const Ball&, const Matrix<Ball>&);
template Matrix<ShortBall> clipped<ShortBall>(const Choice&, const ShortBall&, const Matrix<ShortBall>&);

}  // namespace tally::oracle
