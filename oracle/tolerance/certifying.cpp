#include "oracle/tolerance/certifying.hpp"

#include <cmath>
#include <utility>

#include "oracle/window/certificate.hpp"

namespace tally::oracle {
namespace {

constexpr long double of_itself = 0x1p-63L, of_the_largest = 0x1p-300L;

thread_local CertifyingScope* in_force = nullptr;

Matrix<Ball> enclosed(const Matrix<long double>& x) { return x.cast<Ball>(); }

Tensors<Ball> enclosed(const Tensors<long double>& tensors) {
  Tensors<Ball> result;
  for (const auto& [name, tensor] : tensors) result.emplace(name, enclosed(tensor));
  return result;
}

Tensors<long double> nearest_of(const Tensors<Ball>& tensors) {
  Tensors<long double> result;
  for (const auto& [name, tensor] : tensors) result.emplace(name, tally::oracle::nearest_of(tensor));
  return result;
}

/// in_balls() at rising precision; in_long_double() where none is enough.
template <class Result>
Result certified(const std::function<Result()>& in_balls, const std::function<Result()>& in_long_double) {
  Result result;
  try {
    evaluate_until_decided({std::begin(certifying_bits), std::end(certifying_bits)}, [&] { result = in_balls(); });
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
  using Result = ForwardResult<long double>;
  return certified<Result>(
      [&]() -> Result {
        const Tensors<Ball> tensors = enclosed(pass.tensors);
        const auto out = exact_layer<Ball>(pass.layer.kind)
                             .forward({pass.layer, tensors, pass.cut, pass.decisions, pass.gives_dx}, enclosed(x));
        return {nearest_of(out.y), nearest_of(out.mean), nearest_of(out.var)};
      },
      [&] { return exact_layer<long double>(pass.layer.kind).forward(pass, x); });
}

BackwardResult<long double> certified_backward(const Pass<long double>& pass, const Matrix<long double>& x,
                                               const Matrix<long double>& dy) {
  using Result = BackwardResult<long double>;
  return certified<Result>(
      [&]() -> Result {
        const Tensors<Ball> tensors = enclosed(pass.tensors);
        const auto out =
            exact_layer<Ball>(pass.layer.kind)
                .backward({pass.layer, tensors, pass.cut, pass.decisions, pass.gives_dx}, enclosed(x), enclosed(dy));
        return {nearest_of(out.dx), nearest_of(out.parameters)};
      },
      [&] { return exact_layer<long double>(pass.layer.kind).backward(pass, x, dy); });
}

LossResult<long double> certified_loss(const Choice& loss, const Matrix<long double>& y,
                                       const Matrix<long double>& target, const Matrix<long double>& item_weight,
                                       const Matrix<long double>& row_factor) {
  using Result = LossResult<long double>;
  return certified<Result>(
      [&]() -> Result {
        const auto out = exact_loss<Ball>(loss.kind).evaluate(loss, enclosed(y), enclosed(target),
                                                              enclosed(item_weight), enclosed(row_factor));
        return {nearest_of(out.loss), nearest_of(out.dy)};
      },
      [&] { return exact_loss<long double>(loss.kind).evaluate(loss, y, target, item_weight, row_factor); });
}

}  // namespace tally::oracle
