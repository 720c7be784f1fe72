// Pair i of a head is (a, b), r the features that turn, p the row's position, B the base.
// (rotary.1)  y_a = a cos φ - b sin φ,  y_b = b cos φ + a sin φ,  φ = p B^(-2 i / r)
// (rotary.2)  da = dy_a cos φ + dy_b sin φ,  db = dy_b cos φ - dy_a sin φ
// What does not turn is copied. Positions have no gradient.
#include "oracle/layers/register_exact.hpp"
#include "oracle/layers/rotary_angle.hpp"

namespace tally::oracle::rotary_exact {
namespace {

/// Every pair turned by φ, or by -φ.
template <class T>
Matrix<T> turned(const Pass<T>& pass, const Matrix<T>& x, bool back) {
  const RotaryPairs pairs(pass.layer, x.cols());
  const Matrix<T>& positions = pass.tensors.at("positions");
  Matrix<T> y = x;
  for (std::int64_t i = 0; i < pairs.pairs(); ++i) {
    const T turn = frequency<T>(pass.layer, i, pairs.rotated);
    for (Eigen::Index row = 0; row < x.rows(); ++row) {
      const T angle = positions(row) * turn, c = cos(angle), s = back ? T(-sin(angle)) : T(sin(angle));
      for (std::int64_t h = 0; h < pairs.heads; ++h) {
        const std::int64_t first = pairs.first(h, i), second = pairs.second(h, i);
        const T &a = x(row, first), &b = x(row, second);
        y(row, first) = a * c - b * s;
        y(row, second) = b * c + a * s;
      }
    }
  }
  return y;
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {turned(pass, x, false), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>&, const Matrix<T>& dy) {
  return {turned(pass, dy, true), {}};
}

const RegisterExactLayer registered("rotary", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::rotary_exact
