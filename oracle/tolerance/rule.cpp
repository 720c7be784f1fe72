#include "oracle/tolerance/rule.hpp"

#include "oracle/tolerance/certifying.hpp"
#include "oracle/tolerance/tried_order.hpp"

namespace tally::oracle {
namespace {

Tensors<long double> values_of(const ExpectedTensors& tensors) {
  Tensors<long double> values;
  for (const auto& [name, tensor] : tensors) values.emplace(name, tensor.v);
  return values;
}

/// Binary64 errs by 2^-53 of the magnitudes of which fp32 errs by 2^-24, an operation each: up to here `pays` paid.
constexpr double paid_for = 0x1p-27;

}  // namespace

Expected joined(Matrix<long double> exact, BoundedMatrix bound) {
  if (bounds_only()) {
    return {bound.v.cast<long double>(), std::move(bound.e), std::move(bound.r), std::move(bound.s), bound.sharing};
  }
  const bool whole = sources().accumulation == 1;  // a term of the bound has no share of it
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
  if (bounds_only()) return {};
  if (certifying()) return certified_forward(ExactPass(pass).get(), x.v);
  return exact_layer<long double>(pass.layer.kind).forward(ExactPass(pass).get(), x.v);
}

BackwardResult<long double> exact_backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  if (!bounds_only() && certifying()) return certified_backward(ExactPass(pass).get(), x.v, dy.v);
  if (!bounds_only()) return exact_layer<long double>(pass.layer.kind).backward(ExactPass(pass).get(), x.v, dy.v);
  BackwardResult<long double> none;
  for (const auto& [name, tensor] : pass.tensors) none.parameters[name];
  return none;
}

LossResult<long double> exact_loss_of(const Choice& loss, const Expected& y, const Matrix<long double>& target,
                                      const Matrix<long double>& item_weight, const Expected& row_factor) {
  if (bounds_only()) return {};
  if (certifying()) return certified_loss(loss, y.v, target, item_weight, row_factor.v);
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
  if (tried_order() != nullptr && sum.s > 0) sum.v = added(*tried_order(), claim.additions, terms.each);
  return sum;
}

FunctionError functions_of(const KernelClaim& claim) {
  constexpr double of_a_library = 2;
  return claim.function_ulp > 0 ? claimed(claim.function_ulp) : documented(of_a_library);
}

}  // namespace tally::oracle
