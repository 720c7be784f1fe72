#include "oracle/tolerance/head_loss.hpp"

#include "oracle/tolerance/gemm.hpp"

namespace tally::oracle {
namespace {

constexpr const char* fused = "head_loss";

/// What the subject declares of the two inside: products, sums and logits in fp32, in any order that the claim allows,
/// with no operand narrowed or flushed.
class Inside {
 public:
  explicit Inside(const Declared& declared)
      : claims_(claims_inside(declared)),
        declared_{claims_, format_of(Dtype::fp32), format_of(Dtype::fp32), declared.accumulate, declared.master} {}
  const Declared& get() const { return declared_; }
  BoundPass pass(const BoundPass& outer) const {
    return {outer.layer, outer.tensors, outer.cut, declared_, outer.decisions, outer.gives_dx, outer.others};
  }

 private:
  static Claims claims_inside(const Declared& declared) {
    const KernelClaim& head = claim_of(declared, fused);
    KernelClaim product{.variant = head.variant, .height = head.height};
    product.additions = head.additions;
    Claims claims;
    claims.kernels["gemm"] = claims.kernels["linear.bias_gradient"] = product;
    claims.kernels["cross_entropy"] = head;
    claims.constants = declared.claims.constants;
    return claims;
  }

  Claims claims_;
  Declared declared_;
};

/// What was added in fp32, stored.
Expected stored(const Declared& declared, Expected sums) {
  BoundedMatrix bound;
  bound.v = sums.v.cast<double>();
  bound.e = sums.e;
  bound.r = sums.r;
  bound.s = sums.s;
  return joined(std::move(sums.v), oracle::stored(declared.storage, std::move(bound)));
}

}  // namespace

bool fuses_head_and_loss(const Declared& declared) { return declared.claims.kernels.contains(fused); }

ExpectedForward head_forward(const BoundPass& pass, const Expected& x) {
  const Inside inside(pass.declared);
  return bound_rule("linear").forward(inside.pass(pass), x);
}

ExpectedLoss head_loss(const Choice& loss, const Declared& declared, const Expected& y,
                       const Matrix<long double>& target, const Matrix<long double>& item_weight,
                       const Expected& row_factor) {
  const Inside inside(declared);
  return loss_bound_rule("cross_entropy").evaluate(loss, inside.get(), y, target, item_weight, row_factor);
}

ExpectedBackward head_backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Inside inside(pass.declared);
  ExpectedBackward sums = bound_rule("linear").backward(inside.pass(pass), x, dy);
  if (sums.dx.v.size() != 0) sums.dx = stored(pass.declared, std::move(sums.dx));
  for (auto& [name, sum] : sums.parameters) sum = stored(pass.declared, std::move(sum));
  return sums;
}

}  // namespace tally::oracle
