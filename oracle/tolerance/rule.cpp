// What every bound rule shares, and exact values from proven enclosures.
#include "oracle/tolerance/rule.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <utility>

#include "oracle/exact/answer.hpp"
#include "oracle/exact/registered_exact.hpp"
#include "oracle/real/short_ball.hpp"
#include "oracle/tolerance/summation.hpp"

namespace tally::oracle {
namespace {

std::atomic<int> threads{1};

}  // namespace

int threads_of_rules() { return threads; }
void set_threads_of_rules(int count) { threads = std::max(1, count); }

namespace {

Tensors<long double> values_of(const ExpectedTensors& tensors) {
  Tensors<long double> values;
  for (const auto& [name, tensor] : tensors) values.emplace(name, tensor.v);
  return values;
}

/// Binary64 errs by 2^-53 of the magnitudes of which fp32 errs by 2^-24, an operation each: up to here `pays` paid.
constexpr double paid_for = 0x1p-27;

}  // namespace

Expected joined(const Declared& declared, Matrix<long double> exact, BoundedMatrix bound) {
  if (declared.bounds_only()) {
    return {bound.v.cast<long double>(), std::move(bound.e), std::move(bound.r), std::move(bound.s), bound.sharing};
  }
  const bool whole = declared.asked.sources.accumulation == 1;  // a term of the bound has no share of it
  Expected result{std::move(exact), std::move(bound.e), std::move(bound.r), std::move(bound.s), bound.sharing};
  for (Eigen::Index i = 0; i < result.v.size(); ++i) {
    const double v = bound.v.data()[i];
    long double& exact_value = result.v.data()[i];
    if (!std::isfinite(v)) {
      exact_value = v;
    } else if (!std::isfinite(static_cast<double>(exact_value))) {
      result.e.data()[i] = infinite;
    } else if (whole && exact_value != v) {
      const auto apart = static_cast<double>(std::fabs(exact_value - v));
      if (!(apart <= paid_for * result.e.data()[i])) result.e.data()[i] += apart * inflation;
    }
  }
  return result;
}

ExactPass::ExactPass(const BoundPass& pass)
    : values_(values_of(pass.tensors)), pass_{pass.layer, values_, pass.cut, pass.decisions, pass.gives_dx} {
  for (const Expected* other : pass.others) pass_.others.push_back(&other->v);
}

ForwardResult<long double> exact_forward(const BoundPass& pass, const Expected& x) {
  if (pass.declared.bounds_only()) return {};
  if (pass.declared.certifies()) return certified_forward(*pass.declared.asked.certified, ExactPass(pass).get(), x.v);
  return exact_layer<long double>(pass.layer.kind).forward(ExactPass(pass).get(), x.v);
}

BackwardResult<long double> exact_backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Declared& declared = pass.declared;
  if (declared.certifies()) return certified_backward(*declared.asked.certified, ExactPass(pass).get(), x.v, dy.v);
  if (!declared.bounds_only())
    return exact_layer<long double>(pass.layer.kind).backward(ExactPass(pass).get(), x.v, dy.v);
  BackwardResult<long double> none;
  for (const auto& [name, tensor] : pass.tensors) none.parameters[name];
  return none;
}

LossResult<long double> exact_loss_of(const Choice& loss, const Declared& declared, const Expected& y,
                                      const Matrix<long double>& target, const Matrix<long double>& item_weight,
                                      const Expected& row_factor) {
  if (declared.bounds_only()) return {};
  if (declared.certifies())
    return certified_loss(*declared.asked.certified, loss, y.v, target, item_weight, row_factor.v);
  return exact_loss<long double>(loss.kind).evaluate(loss, y.v, target, item_weight, row_factor.v);
}

const KernelClaim& claim_of(const Declared& declared, std::string_view operation) {
  static const KernelClaim standard{};
  const auto found = declared.claims.kernels.find(std::string(operation));
  return found == declared.claims.kernels.end() ? standard : found->second;
}

double height_of(const KernelClaim& claim, double n) { return height_of(claim, std::vector<double>{n}); }

double height_of(const KernelClaim& claim, const std::vector<double>& tensors) {
  const double by_steps = additions_of(claim.additions, tensors);
  return claim.height > 0 ? std::min(static_cast<double>(claim.height), by_steps) : by_steps;
}

Addends addends_of(const KernelClaim& claim) {
  Addends terms;
  terms.keeps_sizes = !claim.additions.empty();
  return terms;
}

namespace {

Bounded bounded_sum(const Arithmetic& arithmetic, const KernelClaim& claim, const Addends& terms) {
  if (!terms.keeps_sizes || !(terms.magnitude < infinite)) return arithmetic.sum(terms, height_of(claim, terms.count));
  const SumCost by_steps = cost_of(claim.additions, arithmetic.u(), terms.sizes);
  const SumCost by_height = cost_of(height_of(claim, terms.count), arithmetic.u(), terms.magnitude);
  return arithmetic.sum(terms,
                        {std::min(by_steps.growth, by_height.growth), std::min(by_steps.squares, by_height.squares)});
}

}  // namespace

Bounded sum_of(const Arithmetic& arithmetic, const KernelClaim& claim, const Addends& terms) {
  Bounded sum = bounded_sum(arithmetic, claim, terms);
  if (arithmetic.order() != nullptr && sum.s > 0) sum.v = added(*arithmetic.order(), claim.additions, terms.each);
  return sum;
}

FunctionError functions_of(const KernelClaim& claim) {
  constexpr double of_a_library = 2;
  return claim.function_ulp > 0 ? claimed(claim.function_ulp) : documented(of_a_library);
}

namespace {

constexpr long double of_itself = 0x1p-63L, of_the_largest = 0x1p-300L;

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
auto certified(CertifiedCount& count, InBalls in_balls, InLongDouble in_long_double) {
  decltype(in_long_double()) result;
  try {
    evaluate_until_decided([&] { result = in_balls(Scalar<ShortBall>{}); },
                           {std::begin(certifying_bits), std::end(certifying_bits)},
                           [&] { result = in_balls(Scalar<Ball>{}); });
  } catch (const NotCertified&) {
    count.count(false);
    return in_long_double();
  }
  count.count(true);
  return result;
}

}  // namespace

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

ForwardResult<long double> certified_forward(CertifiedCount& count, const Pass<long double>& pass,
                                             const Matrix<long double>& x) {
  return certified(
      count,
      [&]<class T>(Scalar<T>) -> ForwardResult<long double> {
        const auto out = exact_layer<T>(pass.layer.kind).forward(LiftedPass<T>(pass).get(), x.cast<T>());
        return {nearest_in(out.y), nearest_in(out.mean), nearest_in(out.var), nearest_in(out.lse)};
      },
      [&] { return exact_layer<long double>(pass.layer.kind).forward(pass, x); });
}

BackwardResult<long double> certified_backward(CertifiedCount& count, const Pass<long double>& pass,
                                               const Matrix<long double>& x, const Matrix<long double>& dy) {
  return certified(
      count,
      [&]<class T>(Scalar<T>) -> BackwardResult<long double> {
        const auto out = exact_layer<T>(pass.layer.kind).backward(LiftedPass<T>(pass).get(), x.cast<T>(), dy.cast<T>());
        return {nearest_in(out.dx), nearest_in(out.parameters), nearest_in(out.more_dx), nearest_in(out.delta)};
      },
      [&] { return exact_layer<long double>(pass.layer.kind).backward(pass, x, dy); });
}

LossResult<long double> certified_loss(CertifiedCount& count, const Choice& loss, const Matrix<long double>& y,
                                       const Matrix<long double>& target, const Matrix<long double>& item_weight,
                                       const Matrix<long double>& row_factor) {
  return certified(
      count,
      [&]<class T>(Scalar<T>) -> LossResult<long double> {
        const auto out = exact_loss<T>(loss.kind).evaluate(loss, y.cast<T>(), target.cast<T>(), item_weight.cast<T>(),
                                                           row_factor.cast<T>());
        return {nearest_in(out.loss), nearest_in(out.dy)};
      },
      [&] { return exact_loss<long double>(loss.kind).evaluate(loss, y, target, item_weight, row_factor); });
}

}  // namespace tally::oracle
