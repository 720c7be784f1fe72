#include "oracle/tolerance/attention_head.hpp"

#include <cmath>

#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {
namespace {

using Array = Eigen::ArrayXd;
constexpr int single_significand = 24;

/// 1 / sqrt(d), or as it is given.
Bounded scale_constant(const BoundPass& pass, const HeadSizes& sizes) {
  if (pass.layer.number("scale").to_double() != 0) return constant(pass.layer.number("scale"));
  const auto size = static_cast<double>(sizes.size);
  const Arithmetic fp32 = single(pass.declared);
  return derived_constant(pass.declared, 1 / std::sqrt(static_cast<long double>(size)),
                          fp32.div({1, 0}, fp32.sqrt({size, 0})));
}

/// e^x e^a (1 + r) - e^x, for a, r >= 0, and for every x and a: in the exponent where e^a would overflow alone.
Array excess(const Array& exponent, const Array& alpha, double relative) {
  Array more(exponent.size());
  for (Eigen::Index j = 0; j < more.size(); ++j) {
    const double weight = std::exp(exponent[j]), a = alpha[j];
    if (a < 1)
      more[j] = weight * (std::expm1(a) * (1 + relative) + relative);
    else
      more[j] = std::exp(exponent[j] + a) * (1 + relative) - weight;
  }
  return more;
}

/// The head's features of rows.
auto block(const Matrix<double>& m, RowRange rows, Eigen::Index head, Eigen::Index size) {
  return m.block(rows.first, head * size, rows.size(), size);
}
auto segment(const Matrix<double>& m, Eigen::Index row, Eigen::Index head, Eigen::Index size) {
  return m.row(row).segment(head * size, size);
}

/// A product of a row with rows: its sums, the sums of magnitudes, and what the factors' errors come to.
struct Dots {
  Array v, magnitude, passed_on;
};
Dots dots(const BoundedMatrix& a, Eigen::Index i, Eigen::Index head_a, const BoundedMatrix& b, RowRange rows,
          Eigen::Index head_b, Eigen::Index size) {
  const Eigen::VectorXd av = segment(a.v, i, head_a, size), ae = segment(a.e, i, head_a, size);
  const Eigen::VectorXd largest = av.cwiseAbs() + ae;
  const auto bv = block(b.v, rows, head_b, size), be = block(b.e, rows, head_b, size);
  Dots d;
  d.v = (bv * av).array();
  d.magnitude = (bv.cwiseAbs() * largest).array();
  d.passed_on = Array::Zero(rows.size());
  if (be.maxCoeff() > 0) {
    d.passed_on += (be * largest).array();
    d.magnitude += d.passed_on;
  }
  if (ae.maxCoeff() > 0) d.passed_on += (bv.cwiseAbs() * ae).array();
  return d;
}

}  // namespace

AttentionHead::AttentionHead(const BoundPass& pass, std::string_view operation, const BoundedMatrix& q,
                             const BoundedMatrix& k, const BoundedMatrix& v)
    : claim_(claim_of(pass.declared, operation)),
      q_(q),
      k_(k),
      v_(v),
      sizes_(pass.layer, q.cols(), k.cols(), v.cols()),
      fp32_(single(pass.declared)),
      scale_(scale_constant(pass, sizes_)),
      function_(fp32_.relative_error_of(functions_of(claim_))),
      least_(fp32_.least_error_of(functions_of(claim_))),
      sequences_(sequences_by(pass.tensors.at("places").v)) {
  const double off = scale_.v != 0 ? scale_.e / std::fabs(scale_.v) : 0;
  scaling_ = (1 + off) * (1 + fp32_.u()) - 1;
  const Format& storage = pass.declared.storage;
  const std::string& algorithm = claim_.algorithm;
  most_stored_ = storage.overflow_threshold();
  if (storage.p < single_significand) {
    u_stored_ = pass.declared.asked.sources.storage * storage.unit_roundoff() * pays;
    least_stored_ = pass.declared.asked.sources.storage * storage.underflow();
  }
  const bool plain =
      algorithm == "naive" || algorithm == "online" || algorithm == "online_exp2" || algorithm == "recompute";
  const bool casts = algorithm == "online_cast" || algorithm == "eager" || algorithm == "recompute_cast";
  unknown_ = !plain && !casts && algorithm != "online_cast_sum";
  stores_scores_ = unknown_ || algorithm == "eager";
  casts_before_sum_ = unknown_ || algorithm == "online_cast_sum";
  casts_after_sum_ = unknown_ || casts;
  folds_ = unknown_ || algorithm == "online_exp2";
  if (!drops_weights(pass.layer)) return;
  const Bounded factor = kept_factor(pass);
  mask_ = &pass.tensors.at("mask").v;
  first_pairs_ = first_pairs_of(sequences_);
  kept_ = factor.v;
  keeping_ = (1 + factor.e / factor.v) * (1 + fp32_.u()) - 1;
}

Array AttentionHead::kept(Eigen::Index i, Eigen::Index head, RowRange seen) const {
  Array factor = Array::Ones(seen.size());
  if (mask_ == nullptr) return factor;
  const Eigen::Index first = first_pairs_[static_cast<std::size_t>(i)] + seen.first;
  for (Eigen::Index j = 0; j < seen.size(); ++j) factor[j] = (*mask_)(head, first + j) != 0 ? kept_ : 0;
  return factor;
}

/// Whether a product of q and k of at most this magnitude, and the score that it comes to, are finite; where the scale
/// is folded so are the difference of two products and a score times log2(e), which is below 3/2.
bool AttentionHead::fits(double product, double score) const {
  return (folds_ ? 2 * product : product) < fp32_.threshold() && (folds_ ? 1.5 * score : score) < fp32_.threshold();
}

double AttentionHead::flushed() const { return claim_.global_float_atomics ? fp32_.accumulated(0x1p-125) : 0; }

Bounded AttentionHead::stored(Bounded x, int times) const {
  for (int i = 0; i < times; ++i) x.e += u_stored_ * (std::fabs(x.v) + x.e) + least_stored_;
  if (times > 0 && !(std::fabs(x.v) + x.e < most_stored_)) x.e = infinite;
  return x;
}

AttentionHead::Scores AttentionHead::scores(Eigen::Index i, Eigen::Index head, RowRange seen) const {
  const auto size = static_cast<double>(sizes_.size);
  const double kappa = gam(size, fp32_.u()), scale = std::fabs(scale_.v);
  Dots d = dots(q_, i, head, k_, seen, sizes_.group_of(head), sizes_.size);
  Scores s;
  s.t = scale_.v * d.v;
  s.tau = scale * (1 + scaling_) * (d.passed_on + kappa * d.magnitude + size * fp32_.underflow()) +
          scaling_ * s.t.abs() + fp32_.underflow();
  for (Eigen::Index j = 0; j < s.t.size(); ++j) {
    if (stores_scores_ && std::isfinite(s.t[j]) && std::isfinite(s.tau[j])) {
      // The product is stored, and once more when it is scaled.
      const bool holds = std::fabs(d.v[j]) * (1 + u_stored_) + kappa * d.magnitude[j] + d.passed_on[j] < most_stored_;
      s.tau[j] = stored({s.t[j], s.tau[j]}, 2).e + least_stored_ * scale * (1 + 2 * u_stored_);
      if (!holds || !(s.tau[j] < infinite)) {
        s.open = true;
        continue;
      }
    }
    const bool known = d.passed_on[j] == 0;
    if (std::isnan(s.t[j]) || s.t[j] == infinite)
      s.poisoned = s.poisoned || known;
    else if (std::isfinite(s.t[j]) && fits(d.magnitude[j] * (1 + kappa), std::fabs(s.t[j]) + s.tau[j]))
      continue;
    s.open = true;
  }
  return s;
}

AttentionHead::Row AttentionHead::undecided_row(bool certain) const {
  const Bounded all{NAN, certain ? 0 : infinite};
  return {Array::Constant(sizes_.size, all.v), Array::Constant(sizes_.size, all.e), all};
}

AttentionHead::Row AttentionHead::row(Eigen::Index i, Eigen::Index head, RowRange seen) const {
  const Scores s = scores(i, head, seen);
  if (s.poisoned || s.open) {
    Row undecided = undecided_row(s.poisoned);
    if (mask_ != nullptr) undecided.e.setConstant(infinite);  // a weight that is dropped may be 0 all the same
    return undecided;
  }
  const auto n = static_cast<double>(seen.size());
  const double u = fp32_.u(), height = height_of(claim_, n);
  const bool online = unknown_ || claim_.algorithm.starts_with("online");
  // Every block but a key's own scales what its weight came to; a key meets no more blocks than additions.
  const double blocks = online ? std::min(n, height + 1) : 1;
  const double most = s.t.maxCoeff(), T = s.tau.maxCoeff();
  const Array d = most - s.t, exponentials = (-d).exp();
  const double sum = exponentials.sum();
  const Array weights = exponentials / sum;
  Array alpha = s.tau + u * (d + 2 * T);
  // Folded: the products of the largest score so far by s log2(e) round apart, each by u of the largest magnitude.
  const double apart_by = folds_ ? (1 + scaling_) * (1 + u) * (1 + u) * u * (s.t.abs().maxCoeff() + T) : 0;
  if (folds_)
    alpha +=
        ((1 + u) * (1 + u) * (1 + scaling_) - (1 + u)) * (d + 2 * T) + apart_by + (2 * blocks + 2) * fp32_.underflow();
  Array theta = excess(-d, alpha, std::expm1(blocks * std::log1p(function_))) / sum;  // P theta
  if (casts_before_sum_) theta += u_stored_ * (weights + theta);
  const double least_cast = casts_before_sum_ || casts_after_sum_ ? least_stored_ : 0;
  const double all = theta.sum() + n * (least_ + blocks * fp32_.underflow() + least_cast);
  const double growth_l = gam(height + blocks - 1, u);
  // The weights are normalised before they weigh, or the sum is afterwards: one rounding more of either.
  const double added = gam(height + 1 + (blocks - 1) + (unknown_ || !online ? 1 : 0), u);
  double growth_a = casts_after_sum_ ? (1 + u_stored_) * (1 + added) - 1 : added;
  // What the mask keeps of a weight is scaled and may be stored again, or the output is scaled at the end.
  if (mask_ != nullptr) growth_a = (1 + growth_a) * (1 + (stores_scores_ ? u_stored_ : 0)) * (1 + keeping_) - 1;
  const double off = all + growth_l * (1 + all);
  if (!(off < 1))
    return {Array::Zero(sizes_.size), Array::Constant(sizes_.size, infinite), {most + std::log(sum), infinite}};
  const Eigen::Index g = sizes_.group_of(head), size = sizes_.size;
  Matrix<double> v = block(v_.v, seen, g, size), e = block(v_.e, seen, g, size);
  if (mask_ != nullptr) {
    const Array factor = kept(i, head, seen);
    v = factor.matrix().asDiagonal() * v;
    e = factor.matrix().asDiagonal() * e;
  }
  Row row;
  row.y = (v.transpose() * weights.matrix()).array();
  const Matrix<double> apart = (v.rowwise() - row.y.matrix().transpose()).cwiseAbs();
  const Array heaviest = weights + theta;
  const Array magnitude = ((v.cwiseAbs() + e).transpose() * heaviest.matrix()).array();
  const Array largest = (v.cwiseAbs() + e).colwise().maxCoeff().transpose().array();
  row.e = (apart.transpose() * theta.matrix()).array() + growth_a * magnitude +
          (e.transpose() * heaviest.matrix()).array() + growth_l * (1 + all) * row.y.abs() +
          n * (least_ + (blocks + 2) * fp32_.underflow() + 2 * least_cast) * (largest + 1);
  row.e = row.e / (1 - off) * (1 + keeping_);
  row.e = (row.e + u * (row.y.abs() + row.e) + fp32_.underflow()) * inflation;
  for (Eigen::Index c = 0; c < size; ++c)
    if (std::isfinite(row.y[c]) && !(magnitude[c] * (1 + growth_a) < fp32_.threshold())) row.e[c] = infinite;
  const double log_sum = std::log(sum), lse = most + log_sum;
  const double spread = -std::log1p(-off);
  const double e_log = spread + function_ * (std::fabs(log_sum) + 2 * T + spread) + least_ + 2 * apart_by;
  row.lse = {lse, (T + e_log + u * (std::fabs(lse) + T + e_log)) * inflation};
  return row;
}

AttentionHead::Weights AttentionHead::weights(const Scores& scores, Bounded lse) const {
  const Array exponent = scores.t - lse.v;
  const double u = fp32_.u();
  Array alpha = scores.tau + lse.e + u * (exponent.abs() + scores.tau + lse.e);
  if (folds_) alpha += ((1 + u) * (1 + u) * (1 + u) - 1) * (std::fabs(lse.v) + lse.e) + u * u * scores.t.abs();
  return {exponent.exp(), excess(exponent, alpha, function_) + least_};
}

AttentionHead::Scores AttentionHead::products_with_values(const BoundedMatrix& dy, Eigen::Index i, Eigen::Index head,
                                                          RowRange seen) const {
  const auto size = static_cast<double>(sizes_.size);
  const Dots d = dots(dy, i, head, v_, seen, sizes_.group_of(head), sizes_.size);
  Scores s;
  s.t = d.v;
  s.tau = d.passed_on + gam(size, fp32_.u()) * d.magnitude + size * fp32_.underflow();
  for (Eigen::Index j = 0; j < s.t.size(); ++j)
    if (std::isfinite(s.t[j]) && !(d.magnitude[j] * (1 + gam(size, fp32_.u())) < fp32_.threshold()))
      s.tau[j] = infinite;
    else if (stores_scores_ && std::isfinite(s.t[j]))
      s.tau[j] = stored({s.t[j], s.tau[j]}).e;
  return s;
}

BoundedMatrix stored_sums(const AttentionHead& head, const Declared& declared, const WeightedSums& sums, bool scaled,
                          bool known) {
  const Arithmetic storage(declared, declared.storage);
  const double scale = scaled ? std::fabs(head.scale().v) : 1, scaling = scaled ? head.scaling() : 0;
  BoundedMatrix stored(sums.v.rows(), sums.v.cols());
  for (Eigen::Index i = 0; i < sums.v.rows(); ++i) {
    for (Eigen::Index c = 0; c < sums.v.cols(); ++c) {
      const double n = sums.addends(i, c / head.sizes().size), growth = gam(n, head.u());
      const double v = sums.v(i, c) * (scaled ? head.scale().v : 1), magnitude = sums.magnitude(i, c);
      const double added = sums.passed_on(i, c) + growth * magnitude + n * (head.underflow() + head.flushed());
      Bounded x{v, (scale * (1 + scaling) * added + scaling * std::fabs(v) + head.underflow()) * inflation};
      const bool fits = magnitude * (1 + growth) < head.threshold() && std::fabs(v) + x.e < head.threshold();
      if (!std::isfinite(v))
        x = {NAN, known ? 0 : infinite};
      else if (!fits || std::isnan(x.e))
        x.e = infinite;
      stored.set(i, c, n == 0 ? Bounded{} : storage.store(x));
    }
  }
  return stored;
}

}  // namespace tally::oracle
