// batch_norm: per group of rows and feature (batch_norm.1), (batch_norm.2) and (batch_norm.3) by the claimed algorithm
// (oracle/tolerance/moments), then (batch_norm.4); (batch_norm.5), (batch_norm.6) and (batch_norm.7) through the same
// rounded statistics. Operations and their order are those of kernels/arithmetic.md.
#include "oracle/case/micro_steps.hpp"
#include "oracle/layers/pooled_norm.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/tolerance/moments.hpp"
#include "oracle/tolerance/pooled_sums.hpp"
#include "oracle/tolerance/shared_addends.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {
namespace {

bool frozen(const BoundPass& pass) { return pass.layer.text("statistics") == "frozen"; }

/// Ranks put its statistics together (oracle/layers/pooled_norm.hpp).
bool pooled(const BoundPass& pass) { return pass.tensors.contains(pooled_rstd); }

Cut groups_of(const BoundPass& pass, Eigen::Index rows) {
  if (normalises_parts(pass.layer) && !pass.cut.empty() && !pooled(pass)) return pass.cut;
  return {rows};
}

/// Statistics of one feature over `count` rows from `first` on.
Moments moments(const BoundPass& pass, const BoundedMatrix& x, Eigen::Index feature, Eigen::Index first,
                Eigen::Index count) {
  const Bounded eps = constant(pass.layer.number("eps"));
  if (frozen(pass)) {
    const Bounded var = element(pass.tensors.at("running_var"), 0, feature);
    const bool by_function = claim_of(pass.declared, "batch_norm.frozen_statistics").rsqrt;
    return {element(pass.tensors.at("running_mean"), 0, feature), var, rstd_of(var, eps, by_function)};
  }
  if (pooled(pass))
    return {element(pass.tensors.at(pooled_mean), 0, feature), {}, element(pass.tensors.at(pooled_rstd), 0, feature)};
  std::vector<Bounded> column;
  for (Eigen::Index i = first; i < first + count; ++i) column.push_back(x.at(i, feature));
  return sample_moments(pass.declared, claim_of(pass.declared, "batch_norm.statistics"), column, eps);
}

/// A parameter's gradient. Where a window shares its statistics, a cut into one part says that dy is that of a
/// micro-batch with as many rows: zero in all others, which its kernel never reads.
Bounded parameter_sum(const BoundPass& pass, const KernelClaim& claim, const Addends& terms) {
  const Arithmetic fp32 = single();
  const bool some = pass.layer.text("statistics") == "window" && pass.cut.size() == 1;
  if (!some) return sum_of(fp32, claim, terms);
  return fp32.sum(terms, height_of(claim, static_cast<double>(pass.cut.front())));
}

struct Affine {
  Bounded weight{1, 0}, bias{0, 0};
  bool present = false;
};

Affine affine_of(const BoundPass& pass, Eigen::Index feature) {
  const auto weight = pass.tensors.find("weight"), bias = pass.tensors.find("bias");
  if (weight == pass.tensors.end()) return {};
  return {element(weight->second, 0, feature), element(bias->second, 0, feature), true};
}

Bounded normalised(const Arithmetic& fp32, Bounded x, const Moments& m) {
  return fp32.mul(fp32.sub(x, m.mean), m.rstd);
}

Expected exact_rstd(const BoundPass& pass, const Matrix<long double>& var, const BoundedMatrix& bound) {
  const auto eps = number<long double>(pass.layer.number("eps"));
  return joined((var.array() + eps).sqrt().inverse().matrix(), bound);
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Arithmetic fp32 = single(), storage(pass.declared.storage);
  const BoundedMatrix in(x);
  const Cut groups = groups_of(pass, in.rows());
  const auto exact = exact_forward(pass, x);
  const auto count = static_cast<Eigen::Index>(groups.size());
  BoundedMatrix y(in.rows(), in.cols()), mean(count, in.cols()), var(count, in.cols()), rstd(count, in.cols());
  for (Eigen::Index j = 0; j < in.cols(); ++j) {
    const Affine affine = affine_of(pass, j);
    for (Eigen::Index g = 0, first = 0; g < count; first += groups[static_cast<std::size_t>(g)], ++g) {
      const Eigen::Index size = groups[static_cast<std::size_t>(g)];
      const Moments m = moments(pass, in, j, first, size);
      mean.set(g, j, m.mean);
      var.set(g, j, m.var);
      rstd.set(g, j, m.rstd);
      for (Eigen::Index i = first; i < first + size; ++i) {
        Bounded value = normalised(fp32, in.at(i, j), m);
        if (affine.present) value = fp32.add(fp32.mul(value, affine.weight), affine.bias);
        y.set(i, j, storage.store(value));
      }
    }
  }
  if (pooled(pass)) return {joined(exact.y, y), {}, {}, {}};
  const auto& exact_mean = frozen(pass) ? pass.tensors.at("running_mean").v : exact.mean;
  const auto& exact_var = frozen(pass) ? pass.tensors.at("running_var").v : exact.var;
  return {joined(exact.y, y), joined(exact_mean, mean), joined(exact_var, var), exact_rstd(pass, exact_var, rstd)};
}

/// One feature's backward, its dy and normalised x gathered over one group.
class Column {
 public:
  Column(const BoundPass& pass, const BoundedMatrix& x, const BoundedMatrix& dy, Eigen::Index feature,
         Eigen::Index first, Eigen::Index size)
      : pass_(pass), dy_(dy), feature_(feature), first_(first), size_(size) {
    moments_ = moments(pass, x, feature, first, size);
    weight_ = affine_of(pass, feature).weight;
    for (Eigen::Index i = first; i < first + size; ++i) h_.push_back(normalised(fp32_, x.at(i, feature), moments_));
  }

  void gather(Addends& sum_dy, Addends& sum_dy_h) const {
    for (Eigen::Index i = first_; i < first_ + size_; ++i) {
      sum_dy.add_apart(dy_.at(i, feature_));
      sum_dy_h.add_apart(fp32_.mul(dy_.at(i, feature_), h(i)));
    }
  }

  void write(BoundedMatrix& dx, Bounded s1, Bounded s2) const {
    const Bounded scale = shared(fp32_.mul(weight_, moments_.rstd));
    const double count = pooled(pass_) ? element(pass_.tensors.at(pooled_count), 0, 0).v : static_cast<double>(size_);
    const Bounded inverse = reciprocal(pass_.declared, count);
    const Bounded mean_dy = shared(fp32_.mul(s1, inverse)), mean_dy_h = shared(fp32_.mul(s2, inverse));
    for (Eigen::Index i = first_; i < first_ + size_; ++i) {
      const Bounded dy = dy_.at(i, feature_);
      const Bounded centred = fp32_.sub(fp32_.sub(dy, mean_dy), fp32_.mul(h(i), mean_dy_h));
      dx.set(i, feature_, storage_.store(fp32_.mul(scale, frozen(pass_) ? dy : centred)));
    }
  }

 private:
  Bounded h(Eigen::Index i) const { return h_[static_cast<std::size_t>(i - first_)]; }

  const BoundPass& pass_;
  const BoundedMatrix& dy_;
  Eigen::Index feature_, first_, size_;
  Moments moments_;
  Bounded weight_;
  std::vector<Bounded> h_;  // normalised x
  Arithmetic fp32_ = single();
  Arithmetic storage_{pass_.declared.storage};
};

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Arithmetic fp32 = single();
  const BoundedMatrix in(x), gradient(dy);
  const KernelClaim& sums = claim_of(pass.declared, "batch_norm.parameter_gradients");
  BoundedMatrix dx(in.rows(), in.cols());
  dx.v.setZero();
  dx.e.setZero();
  BoundedMatrix dw(1, in.cols()), db(1, in.cols());
  Matrix<double> all(in.rows(), in.cols());  // what dw adds up
  for (Eigen::Index j = 0; j < in.cols(); ++j) {
    Addends all_dy = addends_of(sums), all_dy_h = addends_of(sums);
    Eigen::Index first = 0;
    for (const std::int64_t size : groups_of(pass, in.rows())) {
      const Column column(pass, in, gradient, j, first, size);
      Addends sum_dy = addends_of(sums), sum_dy_h = addends_of(sums);
      column.gather(sum_dy, sum_dy_h);
      if (!pooled(pass))
        column.write(dx, sum_of(fp32, sums, sum_dy), sum_of(fp32, sums, sum_dy_h));
      else if (pass.tensors.contains(pooled_count))
        column.write(dx, element(pass.tensors.at(pooled_sum_dy), 0, j),
                     element(pass.tensors.at(pooled_sum_dy_h), 0, j));
      if (size == in.rows()) {
        all_dy = sum_dy;
        all_dy_h = sum_dy_h;
      } else {
        column.gather(all_dy, all_dy_h);
      }
      first += size;
    }
    db.set(0, j, parameter_sum(pass, sums, all_dy));
    dw.set(0, j, parameter_sum(pass, sums, all_dy_h));
    all.col(j) = Eigen::Map<const Eigen::VectorXd>(all_dy_h.each.data(), in.rows());
  }
  if (counts_alike()) {
    db.sharing = shared_addends_of_columns(gradient.v, fp32.u());
    dw.sharing = shared_addends_of_columns(all, fp32.u());
  }
  const auto exact = exact_backward(pass, x, dy);
  ExpectedBackward result{joined(exact.dx, dx), {}};
  if (!pass.tensors.contains("weight")) return result;
  result.parameters["weight"] = joined(exact.parameters.at("weight"), stored(pass.declared.storage, dw));
  result.parameters["bias"] = joined(exact.parameters.at("bias"), stored(pass.declared.storage, db));
  return result;
}

}  // namespace

ExpectedTensors pooled_gradient_sums(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const BoundedMatrix in(x), gradient(dy);
  const KernelClaim& sums = claim_of(pass.declared, "batch_norm.parameter_gradients");
  BoundedMatrix all_dy(1, in.cols()), all_dy_h(1, in.cols());
  Matrix<long double> exact_dy(1, in.cols()), exact_dy_h(1, in.cols());
  for (Eigen::Index j = 0; j < in.cols(); ++j) {
    const Column column(pass, in, gradient, j, 0, in.rows());
    Addends sum_dy = addends_of(sums), sum_dy_h = addends_of(sums);
    column.gather(sum_dy, sum_dy_h);
    all_dy.set(0, j, shared(sum_of(single(), sums, sum_dy)));
    all_dy_h.set(0, j, shared(sum_of(single(), sums, sum_dy_h)));
    const long double mean = pass.tensors.at(pooled_mean).v(0, j), rstd = pass.tensors.at(pooled_rstd).v(0, j);
    exact_dy(j) = exact_dy_h(j) = 0;
    for (Eigen::Index i = 0; i < in.rows(); ++i) {
      exact_dy(j) += dy.v(i, j);
      exact_dy_h(j) += dy.v(i, j) * ((x.v(i, j) - mean) * rstd);
    }
  }
  return {{"sum_dy", joined(exact_dy, all_dy)}, {"sum_dy_h", joined(exact_dy_h, all_dy_h)}};
}

namespace {

const RegisterBoundRule registered("batch_norm", {forward, backward});

}  // namespace
}  // namespace tally::oracle
