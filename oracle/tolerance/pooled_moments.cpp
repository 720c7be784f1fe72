// Moments of parts that ranks merge, and the sums that each works out of its own rows.
#include "oracle/exact/standardise.hpp"
#include "oracle/tolerance/moments.hpp"

namespace tally::oracle {

// The proof that these lines state is in oracle/variants.md, "Moments of ranks".
namespace {

/// Counts that fp32 does not hold are rounded themselves: n, c and n + c.
constexpr double largest_exact_count = 0x1p24;
constexpr double roundings_of_mean = 4, roundings_of_term = 9;

struct Whole {
  double count = 0, parts = 0;
  double mean = 0, within = 0, between = 0;  // exact: weighted variances, and of the parts' means around the mean
  bool finite = true, decided = true;        // the latter of their means
};

Whole whole_of(const std::vector<Moment>& parts) {
  Whole all;
  for (const Moment& part : parts) {
    all.count += part.count;
    all.parts += part.count > 0;
    all.finite = all.finite && (part.count == 0 || (std::isfinite(part.mean.v) && std::isfinite(part.var.v)));
    all.decided = all.decided && (part.count == 0 || decided(part.mean));
  }
  for (const Moment& part : parts) {
    if (part.count == 0) continue;
    all.mean += part.count / all.count * part.mean.v;
    all.within += part.count / all.count * part.var.v;
  }
  for (const Moment& part : parts)
    if (part.count > 0) all.between += part.count / all.count * (part.mean.v - all.mean) * (part.mean.v - all.mean);
  return all;
}

/// What the merges do, one after another.
struct Merges {
  double rounding = 0;  // of the mean
  double strays = 0;    // B / N: what the errors of the means so far come to in their squared distances
  double largest = 0;   // of the means that the subject holds, in magnitude
  double low = infinite, high = -infinite;
};

Merges merges_of(const Arithmetic& fp32, const std::vector<Moment>& parts, const Whole& all, double extra) {
  const double each = roundings_of_mean + extra;
  Merges found;
  double taken = 0, before = 0, size = 0;  // merges, values and their mean magnitude so far
  for (const Moment& part : parts) {
    if (part.count == 0) continue;
    const double held = std::fabs(part.mean.v) + part.moved + part.mean.e, now = before + part.count;
    const double stray = gam(each * taken, fp32.u()) * size + 2 * taken * fp32.underflow() * inflation;
    found.strays += before * part.count / now / all.count * stray * stray;
    size = before / now * size + part.count / now * held;
    found.rounding += gam(each * (all.parts - taken), fp32.u()) * part.count / all.count * held;
    found.largest = std::max(found.largest, held);
    found.low = std::min(found.low, part.mean.v - part.moved - part.mean.e);
    found.high = std::max(found.high, part.mean.v + part.moved + part.mean.e);
    before = now;
    taken += 1;
  }
  found.rounding += 2 * all.parts * fp32.underflow() * inflation;
  return found;
}

}  // namespace

MeanAndVariance merged_moments(const Declared& declared, const std::vector<Moment>& parts, const MovedValues& moved) {
  const Arithmetic fp32 = single(declared);
  const Whole all = whole_of(parts);
  if (!all.finite) return {{NAN, all.decided ? 0 : infinite}, {NAN, infinite}};
  const double extra = all.count > largest_exact_count ? 3 : 0;
  const Merges merges = merges_of(fp32, parts, all, extra);
  double own_mean = 0, own_var = 0, own_root = 0, moved_root = 0;
  for (const Moment& part : parts) {
    if (part.count == 0) continue;
    const double weight = part.count / all.count;
    own_mean += weight * part.mean.e;
    own_var += weight * part.var.e;
    own_root += weight * part.mean.e * part.mean.e;
    moved_root += weight * part.moved * part.moved;
  }
  const double between = std::sqrt(all.between) + std::sqrt(moved_root);
  const double off = std::sqrt(own_root) + std::sqrt(merges.strays);
  const double variance = all.within + all.between;
  const double apart = own_var + (2 * between + off) * off;
  const double roundings = gam(all.parts + roundings_of_term + 3 * extra, fp32.u());
  const double e_var = moved.variance + apart + roundings * (variance + moved.variance + apart) + 8 * fp32.underflow();
  const double e_mean = moved.mean + own_mean + merges.rounding;
  const double stray = gam((roundings_of_mean + extra) * all.parts, fp32.u()) * merges.largest;
  const double range = merges.high - merges.low + 2 * stray, n = all.count;
  const bool finite = merges.largest + stray < fp32.threshold() &&
                      2 * std::max(n * n / 4 * range * range, n * (variance + e_var)) < fp32.threshold();
  return {{all.mean, merges.largest + stray < fp32.threshold() ? e_mean * inflation : infinite},
          {variance, finite ? e_var * inflation : infinite}};
}

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
  const BoundedMatrix in(declared, x);
  BoundedMatrix bound(1, in.cols());
  Matrix<long double> sum(1, in.cols());
  for (Eigen::Index j = 0; j < in.cols(); ++j) {
    Addends terms = addends_of(claim);
    sum(j) = 0;
    for (Eigen::Index i = 0; i < in.rows(); ++i) {
      terms.add(addend(in.at(i, j), j));
      sum(j) += exact(x.v(i, j), j);
    }
    bound.set(0, j, shared(sum_of(single(declared), claim, terms)));
  }
  return joined(declared, sum, bound);
}

/// (batch_norm.1) and (batch_norm.2) of these rows alone.
ExpectedTensors own_moments(const Declared& declared, const Expected& x) {
  const KernelClaim& claim = claim_of(declared, "batch_norm.statistics");
  const BoundedMatrix in(declared, x);
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
  return {{"mean", joined(declared, exact_mean, mean)}, {"var", joined(declared, exact_var, var)}};
}

}  // namespace

ExpectedTensors own_statistics(const Declared& declared, StepStatistics by, const Expected& x) {
  if (by == StepStatistics::moments) return own_moments(declared, x);
  const Arithmetic fp32 = single(declared);
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
  const Arithmetic fp32 = single(declared);
  return summed(
      declared, x,
      [&](Bounded a, Eigen::Index j) {
        const Bounded d = fp32.sub(a, element(declared, mean, 0, j));
        return fp32.mul(d, d);
      },
      [&](long double a, Eigen::Index j) { return (a - mean.v(0, j)) * (a - mean.v(0, j)); });
}

}  // namespace tally::oracle
