#include "oracle/tolerance/pooled_sums.hpp"

#include "oracle/layers/standardise.hpp"
#include "oracle/tolerance/moments.hpp"
#include "oracle/tolerance/variance.hpp"

namespace tally::oracle {
namespace {

std::vector<Bounded> column_of(const BoundedMatrix& x, Eigen::Index feature) {
  std::vector<Bounded> column;
  for (Eigen::Index i = 0; i < x.rows(); ++i) column.push_back(x.at(i, feature));
  return column;
}

/// A sum over rows of each feature, of what `addend` makes of a number.
template <class Addend, class Exact>
Expected summed(const Declared& declared, const Expected& x, Addend addend, Exact exact) {
  const KernelClaim& claim = claim_of(declared, "batch_norm.step_sums");
  const BoundedMatrix in(x);
  BoundedMatrix bound(1, in.cols());
  Matrix<long double> sum(1, in.cols());
  for (Eigen::Index j = 0; j < in.cols(); ++j) {
    Addends terms = addends_of(claim);
    sum(j) = 0;
    for (Eigen::Index i = 0; i < in.rows(); ++i) {
      terms.add(addend(in.at(i, j), j));
      sum(j) += exact(x.v(i, j), j);
    }
    bound.set(0, j, shared(sum_of(single(), claim, terms)));
  }
  return joined(sum, bound);
}

/// (batch_norm.1) and (batch_norm.2) of these rows alone.
ExpectedTensors own_moments(const Declared& declared, const Expected& x) {
  const KernelClaim& claim = claim_of(declared, "batch_norm.statistics");
  const BoundedMatrix in(x);
  BoundedMatrix mean(1, in.cols()), var(1, in.cols());
  Matrix<long double> exact_mean(1, in.cols()), exact_var(1, in.cols());
  for (Eigen::Index j = 0; j < in.cols(); ++j) {
    const MeanAndVariance found = sample_statistics(declared, claim, sample_of(column_of(in, j)));
    mean.set(0, j, shared(found.mean));
    var.set(0, j, shared(found.variance));
    const ExactMoments<long double> exact = moments(Matrix<long double>(x.v.col(j)));
    exact_mean(j) = exact.mean;
    exact_var(j) = exact.var;
  }
  return {{"mean", joined(exact_mean, mean)}, {"var", joined(exact_var, var)}};
}

}  // namespace

ExpectedTensors own_statistics(const Declared& declared, StepStatistics by, const Expected& x) {
  if (by == StepStatistics::moments) return own_moments(declared, x);
  const Arithmetic fp32 = single();
  ExpectedTensors own;
  own["sum"] = summed(
      declared, x, [](Bounded a, Eigen::Index) { return a; }, [](long double a, Eigen::Index) { return a; });
  if (by == StepStatistics::sums)
    own["sum_squares"] = summed(
        declared, x, [&](Bounded a, Eigen::Index) { return fp32.mul(a, a); },
        [](long double a, Eigen::Index) { return a * a; });
  return own;
}

Expected own_squares(const Declared& declared, const Expected& x, const Expected& mean) {
  const Arithmetic fp32 = single();
  return summed(
      declared, x,
      [&](Bounded a, Eigen::Index j) {
        const Bounded d = fp32.sub(a, element(mean, 0, j));
        return fp32.mul(d, d);
      },
      [&](long double a, Eigen::Index j) { return (a - mean.v(0, j)) * (a - mean.v(0, j)); });
}

}  // namespace tally::oracle
