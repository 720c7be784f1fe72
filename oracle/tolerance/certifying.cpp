#include "oracle/tolerance/certifying.hpp"

#include <cmath>
#include <deque>
#include <utility>

#include "oracle/layers/register_exact.hpp"
#include "oracle/real/short_ball.hpp"
#include "oracle/window/certificate.hpp"

namespace tally::oracle {
namespace {

constexpr long double of_itself = 0x1p-63L, of_the_largest = 0x1p-300L;

thread_local CertifyingScope* in_force = nullptr;

template <class T>
Tensors<T> lifted(const Tensors<long double>& tensors) {
  Tensors<T> result;
  for (const auto& [name, tensor] : tensors) result.emplace(name, tensor.template cast<T>());
  return result;
}

Matrix<Ball> enclosed(const Matrix<Ball>& x) { return x; }
Matrix<Ball> enclosed(const Matrix<ShortBall>& x) {
  return x.unaryExpr([](const ShortBall& element) -> Ball { return enclosing(element); });
}

template <class T>
Matrix<long double> nearest_in(const Matrix<T>& x) {
  return nearest_of(enclosed(x));
}

template <class T>
std::vector<Matrix<long double>> nearest_in(const std::vector<Matrix<T>>& all) {
  std::vector<Matrix<long double>> result;
  for (const Matrix<T>& each : all) result.push_back(nearest_in(each));
  return result;
}

template <class T>
Tensors<long double> nearest_in(const Tensors<T>& tensors) {
  Tensors<long double> result;
  for (const auto& [name, tensor] : tensors) result.emplace(name, nearest_in(tensor));
  return result;
}

/// A pass over another scalar. Keeps what Pass refers to.
template <class T>
class LiftedPass {
 public:
  explicit LiftedPass(const Pass<long double>& pass)
      : tensors_(lifted<T>(pass.tensors)), pass_{pass.layer, tensors_, pass.cut, pass.decisions, pass.gives_dx} {
    for (const Matrix<long double>* other : pass.others)
      pass_.others.push_back(&others_.emplace_back(other->template cast<T>()));
  }
  const Pass<T>& get() const { return pass_; }

 private:
  Tensors<T> tensors_;
  std::deque<Matrix<T>> others_;
  Pass<T> pass_;
};

/// in_balls(Scalar<T>), T ShortBall and then Ball at rising precision; in_long_double() where none is enough.
template <class InBalls, class InLongDouble>
auto certified(InBalls in_balls, InLongDouble in_long_double) {
  decltype(in_long_double()) result;
  try {
    evaluate_until_decided([&] { result = in_balls(Scalar<ShortBall>{}); },
                           {std::begin(certifying_bits), std::end(certifying_bits)},
                           [&] { result = in_balls(Scalar<Ball>{}); });
  } catch (const NotCertified&) {
    in_force->count(false);
    return in_long_double();
  }
  in_force->count(true);
  return result;
}

}  // namespace

CertifyingScope::CertifyingScope() : before_(std::exchange(in_force, this)) {}
CertifyingScope::~CertifyingScope() { in_force = before_; }
CertifyingScope* certifying() { return in_force; }

bool narrow(const Nearest& held, long double largest) {
  return held.off <= of_itself * std::fabs(held.value) || held.off <= of_the_largest * largest ||
         !std::isfinite(held.value);
}

Matrix<long double> nearest_of(const Matrix<Ball>& x) {
  Matrix<long double> result(x.rows(), x.cols());
  std::vector<Nearest> all;
  long double largest = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    all.push_back(nearest(x.data()[i]));
    result.data()[i] = all.back().value;
    if (std::isfinite(all.back().value)) largest = std::max(largest, std::fabs(all.back().value));
  }
  for (const Nearest& held : all)
    if (!narrow(held, largest)) throw Undecided("an element");
  return result;
}

ForwardResult<long double> certified_forward(const Pass<long double>& pass, const Matrix<long double>& x) {
  return certified(
      [&]<class T>(Scalar<T>) -> ForwardResult<long double> {
        const auto out = exact_layer<T>(pass.layer.kind).forward(LiftedPass<T>(pass).get(), x.cast<T>());
        return {nearest_in(out.y), nearest_in(out.mean), nearest_in(out.var), nearest_in(out.lse)};
      },
      [&] { return exact_layer<long double>(pass.layer.kind).forward(pass, x); });
}

BackwardResult<long double> certified_backward(const Pass<long double>& pass, const Matrix<long double>& x,
                                               const Matrix<long double>& dy) {
  return certified(
      [&]<class T>(Scalar<T>) -> BackwardResult<long double> {
        const auto out = exact_layer<T>(pass.layer.kind).backward(LiftedPass<T>(pass).get(), x.cast<T>(), dy.cast<T>());
        return {nearest_in(out.dx), nearest_in(out.parameters), nearest_in(out.more_dx), nearest_in(out.delta)};
      },
      [&] { return exact_layer<long double>(pass.layer.kind).backward(pass, x, dy); });
}

LossResult<long double> certified_loss(const Choice& loss, const Matrix<long double>& y,
                                       const Matrix<long double>& target, const Matrix<long double>& item_weight,
                                       const Matrix<long double>& row_factor) {
  return certified(
      [&]<class T>(Scalar<T>) -> LossResult<long double> {
        const auto out = exact_loss<T>(loss.kind).evaluate(loss, y.cast<T>(), target.cast<T>(), item_weight.cast<T>(),
                                                           row_factor.cast<T>());
        return {nearest_in(out.loss), nearest_in(out.dy)};
      },
      [&] { return exact_loss<long double>(loss.kind).evaluate(loss, y, target, item_weight, row_factor); });
}

}  // namespace tally::oracle
