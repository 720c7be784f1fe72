// attention: (attention.1) to (attention.3) row by row, (attention.4) as a sum of products, (attention.5) to
// (attention.7) as sums weighted by P and dS (oracle/tolerance/attention_head.hpp). Backward is held to the lse, the
// output and the delta that it read, where the pass has them, else to what forward may have left.
#include <cmath>

#include "oracle/real/threads_of_rules.hpp"
#include "oracle/tolerance/attention_head.hpp"
#include "oracle/tolerance/with_spread.hpp"

namespace tally::oracle::attention_bound {
namespace {

struct Inputs {
  BoundedMatrix q, k, v;
  bool known;  // none of them is undecided
  Inputs(const BoundPass& pass, const Expected& x)
      : q(x), k(*pass.others.at(0)), v(*pass.others.at(1)), known(decided_all(q) && decided_all(k) && decided_all(v)) {}
  static bool decided_all(const BoundedMatrix& m) { return m.e.size() == 0 || m.e.maxCoeff() < infinite; }
};

/// of(i, h, seen) for every row and head; heads that share one of k and v go in one thread, row by row.
template <class Of>
void each_row(const BoundPass& pass, const AttentionHead& head, Of of) {
  const Spread asked = spread_in_force;
  over_groups(head.sizes().groups, [&](Eigen::Index group) {
    const SpreadScope scope(asked);
    for (const RowRange& sequence : head.sequences())
      for (Eigen::Index i = sequence.first; i < sequence.last; ++i)
        for (Eigen::Index h = head.sizes().first_of(group); h < head.sizes().first_of(group + 1); ++h)
          of(i, h, seen_by(pass.layer, sequence, i));
  });
}

/// An element that is not finite: for certain where all that was read is known.
Bounded settled(Bounded x, bool known) {
  if (!std::isfinite(x.v)) return {NAN, known && !(x.e == infinite) ? 0 : infinite};
  return std::isnan(x.e) ? Bounded{x.v, infinite} : x;
}

struct Bounds {
  BoundedMatrix y, lse;
};
Bounds forward_bounds(const BoundPass& pass, const Inputs& in, const Expected& x) {
  const AttentionHead head(pass, "attention.forward", in.q, in.k, in.v);
  const Arithmetic storage(pass.declared.storage);
  const Eigen::Index size = head.sizes().size;
  Bounds bounds{BoundedMatrix(x.v.rows(), x.v.cols()), BoundedMatrix(x.v.rows(), head.sizes().heads)};
  each_row(pass, head, [&](Eigen::Index i, Eigen::Index h, RowRange seen) {
    const AttentionHead::Row row = head.row(i, h, seen);
    bounds.lse.set(i, h, row.lse);
    for (Eigen::Index c = 0; c < size; ++c)
      bounds.y.set(i, h * size + c, storage.store(settled({row.y[c], row.e[c]}, in.known)));
  });
  return bounds;
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Inputs in(pass, x);
  Bounds bounds = forward_bounds(pass, in, x);
  const auto exact = exact_forward(pass, x);
  ExpectedForward result{joined(exact.y, std::move(bounds.y)), {}, {}, {}};
  result.lse = joined(exact.lse, std::move(bounds.lse));
  return result;
}

/// (attention.4) of every row and head.
BoundedMatrix delta_bounds(const BoundPass& pass, const HeadSizes& sizes, const BoundedMatrix& dy,
                           const BoundedMatrix& y) {
  const Arithmetic fp32 = single();
  const KernelClaim& claim = claim_of(pass.declared, "attention.delta");
  BoundedMatrix delta(dy.rows(), sizes.heads);
  for (Eigen::Index i = 0; i < dy.rows(); ++i) {
    for (Eigen::Index h = 0; h < sizes.heads; ++h) {
      Addends terms = addends_of(claim);
      for (Eigen::Index c = h * sizes.size; c < (h + 1) * sizes.size; ++c)
        terms.add(shared(fp32.mul(dy.at(i, c), y.at(i, c))));
      delta.set(i, h, shared(sum_of(fp32, claim, terms)));
    }
  }
  return delta;
}

/// The sums that backward leaves, and what one row adds to them.
class Gradients {
 public:
  Gradients(const AttentionHead& head, const Inputs& in, const BoundedMatrix& dy)
      : head_(head),
        in_(in),
        dy_(dy),
        dq(in.q, head.sizes().heads),
        dk(in.k, head.sizes().groups),
        dv(in.v, head.sizes().groups) {}

  void add(Eigen::Index i, Eigen::Index h, RowRange seen, Bounded lse, Bounded delta) {
    const auto scores = head_.scores(i, h, seen);
    const auto weights = head_.weights(scores, lse);
    const auto with_values = head_.products_with_values(dy_, i, h, seen);
    const double u = head_.u();
    const Eigen::ArrayXd kept = head_.kept(i, h, seen);
    Eigen::ArrayXd dp = kept * with_values.t;
    Eigen::ArrayXd e_dp = kept * with_values.tau;
    e_dp += head_.keeping() * (dp.abs() + e_dp) + (head_.drops() ? head_.underflow() : 0);
    // Stored again behind the mask, or D divided by f and what comes of both scaled at the end, where it may be so.
    if (head_.is_unknown() && head_.drops())
      for (Eigen::Index j = 0; j < dp.size(); ++j)
        e_dp[j] = head_
                      .stored({dp[j], e_dp[j] + 2 * head_.keeping() *
                                                    (std::fabs(dp[j]) + e_dp[j] + std::fabs(delta.v) + delta.e)})
                      .e;
    // What is dropped is chosen to be 0, or comes to 0 in a product: NaN where it was not finite.
    for (Eigen::Index j = 0; j < dp.size(); ++j)
      if (kept[j] == 0 && !std::isfinite(with_values.t[j])) dp[j] = 0, e_dp[j] = infinite;
    const Eigen::ArrayXd x = dp - delta.v;
    const Eigen::ArrayXd e_x = e_dp + delta.e + u * (x.abs() + e_dp + delta.e);
    Eigen::ArrayXd p = kept * weights.p, ds = weights.p * x;
    Eigen::ArrayXd e_ds = weights.excess * (x.abs() + e_x) + weights.p * e_x;
    e_ds += u * (ds.abs() + e_ds) + head_.underflow();
    // Scaled before it weighs, where it may be: one rounding more, of a number that the scale made smaller.
    if (const double scale = std::fabs(head_.scale().v); head_.is_unknown() && scale > 0)
      e_ds += u * (ds.abs() + e_ds) + head_.underflow() / scale;
    Eigen::ArrayXd e_p = kept * weights.excess;
    if (head_.drops()) e_p += head_.keeping() * (p + e_p) + head_.underflow();
    // A score far above the lse, which is a float: the weight, or what comes of it, may be out of fp32's range or not.
    for (Eigen::Index j = 0; j < p.size(); ++j) {
      const bool known = std::isfinite(scores.t[j]) && std::isfinite(lse.v);
      const bool in_range = std::fmax(1, kept[j]) * (weights.p[j] + weights.excess[j]) <
                            head_.threshold();  // else infinity times what may be nothing
      if (known && !in_range) p[j] = 0, e_p[j] = infinite;
      const bool kept_fits = std::fabs(dp[j]) + e_dp[j] < head_.threshold();  // dP as the mask scales it
      const bool fits =
          in_range && kept_fits && std::fabs(ds[j]) < head_.threshold() && std::fabs(x[j]) + e_x[j] < head_.threshold();
      if (known && std::isfinite(x[j]) && !fits) ds[j] = 0, e_ds[j] = infinite;
    }
    for (Eigen::Index j = 0; j < p.size() && head_.casts() > 0; ++j) {
      if (std::isfinite(p[j])) e_p[j] = head_.stored({p[j], e_p[j]}, head_.casts()).e;
      if (std::isfinite(ds[j])) e_ds[j] = head_.stored({ds[j], e_ds[j]}, head_.casts()).e;
    }
    for (Eigen::Index j = 0; j < p.size(); ++j)
      if (kept[j] == 0 && !std::isfinite(weights.p[j])) p[j] = 0, e_p[j] = infinite;
    if (scores.open) e_ds.setConstant(infinite), e_p.setConstant(infinite);
    const Eigen::Index g = head_.sizes().group_of(h);
    weigh(dq, i, h, ds, e_ds, in_.k, seen, g);
    scatter(dk, seen, g, ds, e_ds, in_.q, i, h);
    scatter(dv, seen, g, p, e_p, dy_, i, h);
  }

 private:
  /// To row i: the rows that it sees, each by its weight.
  void weigh(WeightedSums& sums, Eigen::Index i, Eigen::Index h, const Eigen::ArrayXd& w, const Eigen::ArrayXd& e_w,
             const BoundedMatrix& of, RowRange seen, Eigen::Index g) const {
    const Eigen::Index size = head_.sizes().size;
    const auto v = of.v.block(seen.first, g * size, seen.size(), size);
    const auto e = of.e.block(seen.first, g * size, seen.size(), size);
    const Matrix<double> largest = v.cwiseAbs() + e;
    sums.v.row(i).segment(h * size, size) += w.matrix().transpose() * v;
    sums.passed_on.row(i).segment(h * size, size) +=
        e_w.matrix().transpose() * largest + w.abs().matrix().transpose() * e;
    sums.magnitude.row(i).segment(h * size, size) += (w.abs() + e_w).matrix().transpose() * largest;
    sums.addends(i, h) = static_cast<double>(seen.size());
  }

  /// To every row that row i sees: row i, by the weight.
  void scatter(WeightedSums& sums, RowRange seen, Eigen::Index g, const Eigen::ArrayXd& w, const Eigen::ArrayXd& e_w,
               const BoundedMatrix& of, Eigen::Index i, Eigen::Index h) const {
    const Eigen::Index size = head_.sizes().size;
    const auto v = of.v.row(i).segment(h * size, size);
    const auto e = of.e.row(i).segment(h * size, size);
    const Matrix<double> largest = v.cwiseAbs() + e;
    sums.v.block(seen.first, g * size, seen.size(), size) += w.matrix() * v;
    sums.passed_on.block(seen.first, g * size, seen.size(), size) += e_w.matrix() * largest + w.abs().matrix() * e;
    sums.magnitude.block(seen.first, g * size, seen.size(), size) += (w.abs() + e_w).matrix() * largest;
    sums.addends.block(seen.first, g, seen.size(), 1).array() += 1;
  }

  const AttentionHead& head_;
  const Inputs& in_;
  const BoundedMatrix& dy_;

 public:
  WeightedSums dq, dk, dv;
};

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Inputs in(pass, x);
  const BoundedMatrix gradient(dy);
  const auto given = [&](const char* name) {
    const auto found = pass.tensors.find(name);
    return found == pass.tensors.end() ? nullptr : &found->second;
  };
  const AttentionHead head(pass, "attention.backward", in.q, in.k, in.v);
  Bounds before;
  if (given("y") == nullptr || given("lse") == nullptr) before = forward_bounds(pass, in, x);
  const BoundedMatrix y = given("y") != nullptr ? BoundedMatrix(*given("y")) : std::move(before.y);
  const BoundedMatrix lse = given("lse") != nullptr ? BoundedMatrix(*given("lse")) : std::move(before.lse);
  BoundedMatrix deltas = delta_bounds(pass, head.sizes(), gradient, y);
  const BoundedMatrix delta = given("delta") != nullptr ? BoundedMatrix(*given("delta")) : deltas;
  Gradients sums(head, in, gradient);
  each_row(pass, head,
           [&](Eigen::Index i, Eigen::Index h, RowRange seen) { sums.add(i, h, seen, lse.at(i, h), delta.at(i, h)); });
  const bool known =
      in.known && Inputs::decided_all(gradient) && Inputs::decided_all(lse) && Inputs::decided_all(delta);
  const auto exact = exact_backward(pass, x, dy);
  const auto stored = [&](const WeightedSums& of, bool scaled) {
    return stored_sums(head, pass.declared, of, scaled, known);
  };
  ExpectedBackward result{joined(exact.dx, stored(sums.dq, true)), {}};
  const auto more = [&](std::size_t j) { return [&, j] { return exact.more_dx.at(j); }; };
  result.more_dx = {joined(more(0), stored(sums.dk, true)), joined(more(1), stored(sums.dv, false))};
  result.delta = joined(exact.delta, std::move(deltas));
  return result;
}

const RegisterBoundRule registered("attention", {forward, backward});

}  // namespace
}  // namespace tally::oracle::attention_bound
