// Column c has the n rows r of a group that shares its statistics; k runs over the group's rows too. w and b hold
// an element a column, 1 and 0 where the layer is not affine.
// (batch_norm.1)  mean_c = (1/n) sum_r x_rc
// (batch_norm.2)  var_c = (1/n) sum_r (x_rc - mean_c)²
// (batch_norm.3)  rstd_c = 1 / sqrt(var_c + eps)
// (batch_norm.4)  y_rc = h_rc w_c + b_c,  h_rc = (x_rc - mean_c) rstd_c
// (batch_norm.5)  dx_rc = w_c rstd_c (dy_rc - (1/n) sum_k dy_kc - h_rc (1/n) sum_k dy_kc h_kc)
// (batch_norm.6)  dw_c = sum dy_rc h_rc,  db_c = sum dy_rc,  over the rows of all groups
// (batch_norm.7)  dx_rc = w_c rstd_c dy_rc  with frozen statistics, where mean and var are the running values
// The statistics of ranks that put them together stand under the names of standardise.hpp, which has these formulas by
// them.
// The code of (batch_norm.5) is the chain rule through mean and var (standardise.hpp).
// batch_norm: per group of rows and feature (batch_norm.1), (batch_norm.2) and (batch_norm.3) by the claimed algorithm
// (oracle/tolerance/moments), then (batch_norm.4); (batch_norm.5), (batch_norm.6) and (batch_norm.7) through the same
// rounded statistics. Operations and their order are those of kernels/arithmetic.md.
// batch_norm from the statistics that the subject left: (batch_norm.3), (batch_norm.4) and, frozen, (batch_norm.7), one
// operation a line as kernels/arithmetic.md writes them.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "oracle/case/contract.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/exact/standardise.hpp"
#include "oracle/real/number.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/tolerance/moments.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/tolerance/summation.hpp"

namespace tally::oracle {
namespace {

bool frozen(const BoundPass& pass) { return pass.layer.text("statistics") == "frozen"; }

/// Ranks put its statistics together (oracle/exact/standardise.hpp).
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
    const Bounded var = element(pass.declared, pass.tensors.at("running_var"), 0, feature);
    const bool by_function = claim_of(pass.declared, "batch_norm.frozen_statistics").rsqrt;
    return {element(pass.declared, pass.tensors.at("running_mean"), 0, feature), var,
            rstd_of(pass.declared, var, eps, by_function)};
  }
  if (pooled(pass))
    return {element(pass.declared, pass.tensors.at(pooled_mean), 0, feature),
            {},
            element(pass.declared, pass.tensors.at(pooled_rstd), 0, feature)};
  std::vector<Bounded> column;
  for (Eigen::Index i = first; i < first + count; ++i) column.push_back(x.at(i, feature));
  return sample_moments(pass.declared, claim_of(pass.declared, "batch_norm.statistics"), column, eps);
}

/// A parameter's gradient. Where a window shares its statistics, a cut into one part says that dy is that of a
/// micro-batch with as many rows: zero in all others, which its kernel never reads.
Bounded parameter_sum(const BoundPass& pass, const KernelClaim& claim, const Addends& terms) {
  const Arithmetic fp32 = single(pass.declared);
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
  return {element(pass.declared, weight->second, 0, feature), element(pass.declared, bias->second, 0, feature), true};
}

Bounded normalised(const Arithmetic& fp32, Bounded x, const Moments& m) {
  return fp32.mul(fp32.sub(x, m.mean), m.rstd);
}

Expected exact_rstd(const BoundPass& pass, const Matrix<long double>& var, const BoundedMatrix& bound) {
  const auto eps = number<long double>(pass.layer.number("eps"));
  return joined(pass.declared, (var.array() + eps).sqrt().inverse().matrix(), bound);
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Arithmetic fp32 = single(pass.declared), storage(pass.declared, pass.declared.storage);
  const BoundedMatrix in(pass.declared, x);
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
  if (pooled(pass)) return {joined(pass.declared, exact.y, y), {}, {}, {}};
  const auto& exact_mean = frozen(pass) ? pass.tensors.at("running_mean").v : exact.mean;
  const auto& exact_var = frozen(pass) ? pass.tensors.at("running_var").v : exact.var;
  return {joined(pass.declared, exact.y, y), joined(pass.declared, exact_mean, mean),
          joined(pass.declared, exact_var, var), exact_rstd(pass, exact_var, rstd)};
}

/// One feature's backward, its dy and normalised x gathered over one group.
class Column {
 public:
  Column(const BoundPass& pass, const BoundedMatrix& x, const BoundedMatrix& dy, Eigen::Index feature,
         Eigen::Index first, Eigen::Index size)
      : pass_(pass),
        dy_(dy),
        feature_(feature),
        first_(first),
        size_(size),
        fp32_(single(pass.declared)),
        storage_(pass.declared, pass.declared.storage) {
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
    const double count =
        pooled(pass_) ? element(pass_.declared, pass_.tensors.at(pooled_count), 0, 0).v : static_cast<double>(size_);
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
  Arithmetic fp32_, storage_;
};

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Arithmetic fp32 = single(pass.declared);
  const BoundedMatrix in(pass.declared, x), gradient(pass.declared, dy);
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
        column.write(dx, element(pass.declared, pass.tensors.at(pooled_sum_dy), 0, j),
                     element(pass.declared, pass.tensors.at(pooled_sum_dy_h), 0, j));
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
  if (pass.declared.counts_alike()) {
    db.sharing = shared_addends_of_columns(gradient.v, fp32.u());
    dw.sharing = shared_addends_of_columns(all, fp32.u());
  }
  const auto exact = exact_backward(pass, x, dy);
  ExpectedBackward result{joined(pass.declared, exact.dx, dx), {}};
  if (!pass.tensors.contains("weight")) return result;
  result.parameters["weight"] =
      joined(pass.declared, exact.parameters.at("weight"), stored(pass.declared, pass.declared.storage, dw));
  result.parameters["bias"] =
      joined(pass.declared, exact.parameters.at("bias"), stored(pass.declared, pass.declared.storage, db));
  return result;
}

}  // namespace

ExpectedTensors pooled_gradient_sums(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const BoundedMatrix in(pass.declared, x), gradient(pass.declared, dy);
  const KernelClaim& sums = claim_of(pass.declared, "batch_norm.parameter_gradients");
  BoundedMatrix all_dy(1, in.cols()), all_dy_h(1, in.cols());
  Matrix<long double> exact_dy(1, in.cols()), exact_dy_h(1, in.cols());
  for (Eigen::Index j = 0; j < in.cols(); ++j) {
    const Column column(pass, in, gradient, j, 0, in.rows());
    Addends sum_dy = addends_of(sums), sum_dy_h = addends_of(sums);
    column.gather(sum_dy, sum_dy_h);
    all_dy.set(0, j, shared(sum_of(single(pass.declared), sums, sum_dy)));
    all_dy_h.set(0, j, shared(sum_of(single(pass.declared), sums, sum_dy_h)));
    const long double mean = pass.tensors.at(pooled_mean).v(0, j), rstd = pass.tensors.at(pooled_rstd).v(0, j);
    exact_dy(j) = exact_dy_h(j) = 0;
    for (Eigen::Index i = 0; i < in.rows(); ++i) {
      exact_dy(j) += dy.v(i, j);
      exact_dy_h(j) += dy.v(i, j) * ((x.v(i, j) - mean) * rstd);
    }
  }
  return {{"sum_dy", joined(pass.declared, exact_dy, all_dy)},
          {"sum_dy_h", joined(pass.declared, exact_dy_h, all_dy_h)}};
}

namespace {}  // namespace
}  // namespace tally::oracle

namespace tally::oracle::batch_norm_kind {
namespace {

template <class T>
bool frozen(const Pass<T>& pass) {
  return pass.layer.text("statistics") == "frozen";
}

/// Neighbouring rows.
struct Stretch {
  Eigen::Index first, rows;
};
/// Rows that share statistics, wherever they stand.
using Group = std::vector<Stretch>;

Eigen::Index rows_of(const Group& group) {
  Eigen::Index all = 0;
  for (const Stretch& each : group) all += each.rows;
  return all;
}

/// The parts of a cut, or the micro-steps, where several parts are one micro-step's; else all rows as one.
template <class T>
std::vector<Group> groups_of(const Pass<T>& pass, Eigen::Index rows) {
  const std::string& statistics = pass.layer.text("statistics");
  const bool steps = statistics == "micro_step" && !pass.steps.empty();
  if (statistics != "micro_batch" && statistics != "micro_step") return {{{0, rows}}};
  std::vector<Group> groups;
  Eigen::Index first = 0;
  for (std::size_t part = 0; part < pass.cut.size(); ++part) {
    const std::size_t group = steps ? pass.steps.at(part) : part;
    groups.resize(std::max(groups.size(), group + 1));
    groups[group].push_back({first, pass.cut[part]});
    first += pass.cut[part];
  }
  if (first != rows)
    throw std::logic_error("batch_norm: the cut holds " + std::to_string(first) + " rows, x " + std::to_string(rows));
  return groups;
}

template <class T>
Matrix<T> taken(const Matrix<T>& x, const Group& group, Eigen::Index c) {
  if (group.size() == 1) return x.block(group.front().first, c, group.front().rows, 1);
  Matrix<T> column(rows_of(group), 1);
  Eigen::Index row = 0;
  for (const Stretch& each : group) {
    column.block(row, 0, each.rows, 1) = x.block(each.first, c, each.rows, 1);
    row += each.rows;
  }
  return column;
}

template <class T>
void put(const Matrix<T>& column, const Group& group, Eigen::Index c, Matrix<T>& y) {
  Eigen::Index row = 0;
  for (const Stretch& each : group) {
    y.block(each.first, c, each.rows, 1) = column.block(row, 0, each.rows, 1);
    row += each.rows;
  }
}

/// Column c of one group, and how it is standardised.
template <class T>
struct Column {
  Matrix<T> x;
  ExactMoments<T> moments;
};

template <class T>
Column<T> column_of(const Pass<T>& pass, const Matrix<T>& x, const Group& group, Eigen::Index c) {
  Column<T> column{taken(x, group, c), {}};
  column.moments = frozen(pass) ? ExactMoments<T>{pass.tensors.at("running_mean")(c), pass.tensors.at("running_var")(c)}
                                : moments(column.x);
  return column;
}

template <class T>
Matrix<T> d_column(const Pass<T>& pass, const Column<T>& column, const T& eps, const Matrix<T>& d_xhat) {
  if (!frozen(pass)) return standardised_gradient(column.x, column.moments, eps, d_xhat);
  return d_xhat / sqrt(T(column.moments.var + eps));
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  const T eps = number<T>(pass.layer.number("eps"));
  const bool affine = pass.layer.flag("affine");
  if (is_pooled(pass)) return pooled_forward(pass, x);
  const std::vector<Group> groups = groups_of(pass, x.rows());
  const auto group_count = frozen(pass) ? 0 : static_cast<Eigen::Index>(groups.size());
  ForwardResult<T> result{Matrix<T>(x.rows(), x.cols()), Matrix<T>(group_count, x.cols()),
                          Matrix<T>(group_count, x.cols())};
  Eigen::Index g = 0;
  for (const Group& group : groups) {
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const Column<T> column = column_of(pass, x, group, c);
      Matrix<T> y = standardised(column.x, column.moments, eps);
      if (affine) {
        const T weight = pass.tensors.at("weight")(c), bias = pass.tensors.at("bias")(c);
        y = y.unaryExpr([&](const T& xhat) -> T { return xhat * weight + bias; }).eval();
      }
      put(y, group, c, result.y);
      if (frozen(pass)) continue;
      result.mean(g, c) = column.moments.mean;
      result.var(g, c) = column.moments.var;
    }
    ++g;
  }
  if (frozen(pass)) result.mean = result.var = Matrix<T>();
  return result;
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  if (is_pooled(pass)) return pooled_backward(pass, x, dy);
  const T eps = number<T>(pass.layer.number("eps"));
  const bool affine = pass.layer.flag("affine");
  BackwardResult<T> result{Matrix<T>(x.rows(), x.cols()), {}};
  Matrix<T> d_weight = Matrix<T>::Zero(1, x.cols());
  for (const Group& group : groups_of(pass, x.rows())) {
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const Column<T> column = column_of(pass, x, group, c);
      Matrix<T> d_xhat = taken(dy, group, c);
      if (affine) {
        d_weight(c) += d_xhat.cwiseProduct(standardised(column.x, column.moments, eps)).sum();
        d_xhat *= pass.tensors.at("weight")(c);
      }
      put(d_column(pass, column, eps, d_xhat), group, c, result.dx);
    }
  }
  if (!affine) return result;
  result.parameters["weight"] = d_weight;
  result.parameters["bias"] = dy.colwise().sum();
  return result;
}

std::vector<std::int64_t> per_feature(const Choice&, std::int64_t features) { return {features}; }
bool affine(const Choice& layer) { return layer.flag("affine"); }

const Contract contract{
    .kind = "batch_norm",
    .options = {{.name = "eps", .type = OptionType::number, .standard = Decimal{"1e-5"}, .range = {.above = "0"}},
                {.name = "momentum",
                 .type = OptionType::number,
                 .standard = Decimal{"0.1"},
                 .range = {.at_least = "0", .below = "1"}},
                {.name = "affine", .type = OptionType::boolean, .standard = true},
                {.name = "statistics",
                 .type = OptionType::text,
                 .standard = std::nullopt,
                 .words = {"micro_batch", "window", "frozen", "micro_step"}},
                {.name = "running",
                 .type = OptionType::text,
                 .standard = std::string("first_rank"),
                 .words = {"first_rank", "each"},
                 .since = 3}},
    .tensors = {{.name = "weight", .role = Role::parameter, .shape = per_feature, .present = affine},
                {.name = "bias", .role = Role::parameter, .shape = per_feature, .present = affine},
                {.name = "running_mean", .role = Role::running, .shape = per_feature},
                {.name = "running_var", .role = Role::running, .shape = per_feature}},
    .norm = true,
    .definition = "y = (x - mean) / sqrt(biased variance + eps) * weight + bias, over rows"};

bool frozen(const BoundPass& pass) { return pass.layer.text("statistics") == "frozen"; }

bool one_a_feature(const Matrix<float>& statistic, Eigen::Index features) { return statistic.size() == features; }

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics) {
  const Matrix<float>&mean = statistics.mean, &rstd = statistics.rstd;
  const bool known_here = one_a_feature(mean, x.cols()) && one_a_feature(rstd, x.cols());
  if (!as_written(pass.declared, "batch_norm.forward") || !known_here) return {};
  const bool affine = pass.tensors.contains("weight");
  const Matrix<float> weight = affine ? held(pass.tensors.at("weight")) : Matrix<float>();
  const Matrix<float> bias = affine ? held(pass.tensors.at("bias")) : Matrix<float>();
  return of_each(x.rows(), x.cols(), [&](Eigen::Index i) {
    const Eigen::Index column = i % x.cols();
    const float centred = x.data()[i] - mean.data()[column];
    float value = centred * rstd.data()[column];
    if (affine) {
      const float scaled = value * weight.data()[column];
      value = scaled + bias.data()[column];
    }
    return stored(pass.declared.storage, value);
  });
}

Prediction rstd(const BoundPass& pass, const Statistics& statistics) {
  const char* operation = frozen(pass) ? "batch_norm.frozen_statistics" : "batch_norm.statistics";
  const bool by_function = claim_of(pass.declared, operation).rsqrt;
  if (!as_written(pass.declared, operation) || by_function || statistics.var.size() == 0) return {};
  const float eps = held(pass.layer.number("eps"));
  return of_each(statistics.var.rows(), statistics.var.cols(), [&](Eigen::Index i) {
    const float root = std::sqrt(statistics.var.data()[i] + eps);
    return 1 / root;
  });
}

Prediction dx(const BoundPass& pass, const Statistics& statistics, const Matrix<float>& dy) {
  const bool known_here = one_a_feature(statistics.rstd, dy.cols());
  if (!frozen(pass) || !as_written(pass.declared, "batch_norm.backward_frozen") || !known_here) return {};
  Matrix<float> scale = statistics.rstd;
  if (pass.tensors.contains("weight")) scale = held(pass.tensors.at("weight")).cwiseProduct(scale);
  return of_each(dy.rows(), dy.cols(), [&](Eigen::Index i) {
    return stored(pass.declared.storage, scale.data()[i % dy.cols()] * dy.data()[i]);
  });
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{oracle::forward, oracle::backward}, {y, rstd, dx}}}};

}  // namespace
}  // namespace tally::oracle::batch_norm_kind
