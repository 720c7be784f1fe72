#include "oracle/real/functions.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {
namespace {

enum class Norm { one, two, largest };

Norm norm_of(const Choice& clip) {
  if (clip.kind != "global_norm") return Norm::two;
  const std::string& norm = clip.text("norm");
  return norm == "inf" ? Norm::largest : norm == "1" ? Norm::one : Norm::two;
}

template <class T>
void add_to_norm(T& sum, Norm norm, const T& element) {
  const T size = magnitude(element);
  if (norm == Norm::one) sum += size;
  if (norm == Norm::two) sum += size * size;
  if (norm == Norm::largest) sum = larger(sum, size);
}

}  // namespace

template <class T>
T gradient_norm(const Choice& clip, const Tensors<T>& gradients) {
  const Norm norm = norm_of(clip);
  T sum = 0;
  for (const auto& [name, gradient] : gradients)
    for (Eigen::Index i = 0; i < gradient.size(); ++i) add_to_norm(sum, norm, gradient(i));
  return norm == Norm::two ? T(sqrt(sum)) : sum;
}

template <class T>
T clip_coefficient(const Choice& clip, const T& norm) {
  if (clip.kind != "global_norm") return T(1);
  const T divisor = norm + number<T>(clip.number("epsilon"));
  if (divisor == 0) return T(1);
  return smaller(T(number<T>(clip.number("max_norm")) / divisor), T(1));
}

template <class T>
Matrix<T> clipped(const Choice& clip, const T& coefficient, const Matrix<T>& gradient) {
  if (clip.kind == "global_norm") return gradient * coefficient;
  if (clip.kind != "value") return gradient;
  const T most = number<T>(clip.number("max_value")), least = -most;
  return gradient.unaryExpr([&](const T& g) -> T { return larger(smaller(g, most), least); });
}

template Real gradient_norm<Real>(const Choice&, const Tensors<Real>&);
template long double gradient_norm<long double>(const Choice&, const Tensors<long double>&);
template Ball gradient_norm<Ball>(const Choice&, const Tensors<Ball>&);
template Real clip_coefficient<Real>(const Choice&, const Real&);
template long double clip_coefficient<long double>(const Choice&, const long double&);
template Ball clip_coefficient<Ball>(const Choice&, const Ball&);
template Matrix<Real> clipped<Real>(const Choice&, const Real&, const Matrix<Real>&);
template Matrix<long double> clipped<long double>(const Choice&, const long double&, const Matrix<long double>&);
template Matrix<Ball> clipped<Ball>(const Choice&, const Ball&, const Matrix<Ball>&);

}  // namespace tally::oracle
