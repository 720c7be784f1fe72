// Statistics of a micro-step, with bounds and bit by bit.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "oracle/exact/standardise.hpp"
#include "oracle/real/number.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/moments.hpp"
#include "oracle/window/rank_stages.hpp"

namespace tally::oracle {
namespace {

/// Their sums are in fp32, whatever the buffers of gradients are.
Declared in_fp32(const Declared& declared) {
  Declared sums = declared;
  sums.accumulate = format_of(Dtype::fp32);
  return sums;
}

/// The most additions over ranks that an addend passes through.
int height_over(const Declared& declared, std::size_t ranks) {
  const std::string& algorithm = claim_of(declared, "reduce").algorithm;
  const int all = static_cast<int>(ranks);
  return claims_an_order(algorithm) ? height_of(rank_additions(algorithm, all, 0)) : all - 1;
}

std::int64_t total(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

const KernelClaim& claim_of_pooling(const Declared& declared, StepStatistics by) {
  return claim_of(declared, by == StepStatistics::moments ? "batch_norm.merge_moments" : "batch_norm.pool_sums");
}

/// By feature: bounds, and exact values beside them.
struct Columns {
  explicit Columns(Eigen::Index features)
      : mean(1, features), var(1, features), rstd(1, features), exact_mean(1, features), exact_var(1, features) {}
  BoundedMatrix mean, var, rstd;
  Matrix<long double> exact_mean, exact_var;

  void set(const Declared& declared, Eigen::Index j, const MeanAndVariance& found, Bounded eps, bool by_function) {
    mean.set(0, j, shared(found.mean));
    var.set(0, j, shared(found.variance));
    rstd.set(0, j, rstd_of(declared, found.variance, eps, by_function));
  }
  PooledStatistics joined_with(const Declared& declared, const Layer& layer) const {
    const auto eps = number<long double>(layer.number("eps"));
    return {joined(declared, exact_mean, mean), joined(declared, exact_var, var),
            joined(declared, (exact_var.array() + eps).sqrt().inverse().matrix(), rstd)};
  }
};

void set_exact_moments(Columns& columns, Eigen::Index j, const std::vector<std::int64_t>& counts,
                       const std::vector<ExpectedTensors>& handed) {
  const auto n = static_cast<long double>(total(counts));
  const auto sum = [&](auto&& of_rank) {
    long double all = 0;
    for (std::size_t r = 0; r < counts.size(); ++r)
      if (counts[r] > 0) all += static_cast<long double>(counts[r]) * of_rank(handed[r]);
    return all / n;
  };
  const auto mean = [j](const ExpectedTensors& own) { return own.at("mean").v(0, j); };
  const long double of_all = columns.exact_mean(j) = sum(mean);
  columns.exact_var(j) = sum(
      [&](const ExpectedTensors& own) { return own.at("var").v(0, j) + (mean(own) - of_all) * (mean(own) - of_all); });
}

PooledStatistics of_moments(const Declared& declared, const Layer& layer, const std::vector<std::int64_t>& counts,
                            const std::vector<ExpectedTensors>& handed) {
  const bool by_function = claim_of_pooling(declared, StepStatistics::moments).rsqrt;
  Columns columns(handed.front().at("mean").v.cols());
  for (Eigen::Index j = 0; j < columns.mean.cols(); ++j) {
    std::vector<Moment> parts;
    for (std::size_t r = 0; r < counts.size(); ++r)
      parts.push_back({static_cast<double>(counts[r]), element(declared, handed[r].at("mean"), 0, j),
                       element(declared, handed[r].at("var"), 0, j)});
    columns.set(declared, j, merged_moments(declared, parts), constant(layer.number("eps")), by_function);
    set_exact_moments(columns, j, counts, handed);
  }
  return columns.joined_with(declared, layer);
}

Expected sum_called(const Declared& declared, const std::string& name, std::size_t tensor, std::size_t tensors,
                    const std::vector<ExpectedTensors>& handed) {
  std::vector<const Expected*> addends;
  for (const ExpectedTensors& own : handed) addends.push_back(&own.at(name));
  return pooled_sum(declared, tensor, tensors, addends);
}

PooledStatistics of_sums(const Declared& declared, const Layer& layer, StepStatistics by, std::int64_t count,
                         const std::vector<ExpectedTensors>& handed) {
  const bool in_one_pass = by == StepStatistics::sums, by_function = claim_of_pooling(declared, by).rsqrt;
  const Expected sum = sum_called(declared, "sum", 0, step_tensors(by).size(), handed);
  const Expected squares =
      in_one_pass ? sum_called(declared, "sum_squares", 1, 2, handed) : sum_called(declared, "squares", 0, 1, handed);
  const auto n = static_cast<long double>(count);
  const Arithmetic fp32 = single(declared);
  const Bounded inverse = reciprocal(declared, static_cast<double>(count));
  Columns columns(sum.v.cols());
  for (Eigen::Index j = 0; j < columns.mean.cols(); ++j) {
    const Bounded mean = fp32.mul(element(declared, sum, 0, j), inverse);
    const Bounded square = fp32.mul(element(declared, squares, 0, j), inverse);
    Bounded var = in_one_pass ? fp32.sub(square, fp32.mul(mean, mean)) : square;
    if (in_one_pass && !std::isfinite(var.v)) var.e = infinite;  // cutting at 0 may turn NaN into 0
    columns.exact_mean(j) = sum.v(0, j) / n;
    columns.exact_var(j) = squares.v(0, j) / n;
    if (in_one_pass) {
      columns.exact_var(j) -= columns.exact_mean(j) * columns.exact_mean(j);
      columns.exact_var(j) = std::max(0.0L, columns.exact_var(j));
      var.v = std::max(0.0, var.v);
    }
    columns.set(declared, j, {mean, var}, constant(layer.number("eps")), by_function);
  }
  return columns.joined_with(declared, layer);
}

std::vector<Bounded> column_of(const Declared& declared, const Expected& x, Eigen::Index j) {
  std::vector<Bounded> column;
  for (Eigen::Index i = 0; i < x.v.rows(); ++i) column.push_back(element(declared, x, i, j));
  return column;
}

/// The value as the subject holds it: its own rounding has these sizes, and nothing is shifted.
Sample held_by_subject(Sample x) {
  x.variance += x.passed_on();
  x.mean = std::fabs(x.mean) + x.moved_mean;
  x.moved = x.moved_mean = 0;
  return x;
}

MeanAndVariance of_all_moments(const Declared& declared, const Sample& all,
                               const std::vector<std::vector<Bounded>>& of_ranks) {
  if (!(all.moved < infinite) || (all.finite() && !std::isfinite(all.passed_on())))
    return {{all.mean, infinite}, {all.variance, infinite}};
  const KernelClaim& own = claim_of(declared, "batch_norm.statistics");
  std::vector<Moment> parts;
  for (const std::vector<Bounded>& column : of_ranks) {
    if (column.empty()) continue;
    const Sample mine = sample_of(column);
    const MeanAndVariance rounded = sample_statistics(declared, own, held_by_subject(mine));
    parts.push_back({mine.n, {mine.mean, rounded.mean.e}, {mine.variance, rounded.variance.e}, mine.moved_mean});
  }
  return merged_moments(declared, parts, {all.moved_mean, all.passed_on()});
}

}  // namespace

PlaceInBucket place_in_step(std::int64_t features, std::size_t ranks, std::size_t tensor, std::size_t tensors) {
  const auto all = static_cast<std::int64_t>(tensors) * features, parts = static_cast<std::int64_t>(ranks);
  return {static_cast<std::int64_t>(tensor) * features, std::max<std::int64_t>(1, (all + parts - 1) / parts), 0};
}

Expected pooled_sum(const Declared& declared, std::size_t tensor, std::size_t tensors,
                    const std::vector<const Expected*>& addends) {
  return summed_over_ranks(in_fp32(declared), place_in_step(addends.front()->v.cols(), addends.size(), tensor, tensors),
                           addends);
}

PooledStatistics pooled_statistics(const Declared& declared, const Layer& layer, StepStatistics by,
                                   const std::vector<std::int64_t>& counts,
                                   const std::vector<ExpectedTensors>& handed) {
  if (by == StepStatistics::moments) return of_moments(declared, layer, counts, handed);
  return of_sums(declared, layer, by, total(counts), handed);
}

PooledStatistics pooled_statistics(const Declared& declared, const Layer& layer, StepStatistics by,
                                   const std::vector<Expected>& rows) {
  const bool by_function = claim_of_pooling(declared, by).rsqrt;
  const KernelClaim& sums = claim_of(declared, "batch_norm.step_sums");
  Columns columns(rows.front().v.cols());
  for (Eigen::Index j = 0; j < columns.mean.cols(); ++j) {
    std::vector<Bounded> all;
    std::vector<std::vector<Bounded>> of_ranks;
    Matrix<long double> exact(0, 1);
    double height = 0;
    for (const Expected& own : rows) {
      of_ranks.push_back(column_of(declared, own, j));
      all.insert(all.end(), of_ranks.back().begin(), of_ranks.back().end());
      const Eigen::Index before = exact.rows();
      exact.conservativeResize(before + own.v.rows(), 1);
      exact.bottomRows(own.v.rows()) = own.v.col(j);
      if (own.v.rows() > 0) height = std::max(height, height_of(sums, static_cast<double>(own.v.rows())));
    }
    height += height_over(declared, rows.size());
    const Sample sample = sample_of(all);
    const MeanAndVariance found = by == StepStatistics::moments ? of_all_moments(declared, sample, of_ranks)
                                  : by == StepStatistics::sums  ? one_pass(declared, height, sample)
                                                                : two_pass(declared, height, sample);
    columns.set(declared, j, found, constant(layer.number("eps")), by_function);
    const ExactMoments<long double> moments_of_all = moments(exact);
    columns.exact_mean(j) = moments_of_all.mean;
    columns.exact_var(j) = moments_of_all.var;
  }
  return columns.joined_with(declared, layer);
}

// One operation a line, as kernels/arithmetic.md writes them.
namespace {

using Handed = std::vector<std::map<std::string, Matrix<float>>>;

struct Pooled {
  float mean = 0, var = 0;
};

/// The parts of ranks that have rows, in the order of the ranks.
Pooled merged(const std::vector<std::int64_t>& counts, const Handed& handed, Eigen::Index j) {
  float avg = 0, squares = 0, n = 0;
  std::int64_t all = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (counts[r] == 0) continue;
    const float mean = handed[r].at("mean").data()[j], var = handed[r].at("var").data()[j];
    const auto c = static_cast<float>(counts[r]);
    all += counts[r];
    const float f = 1 / static_cast<float>(all);
    const float own = var * c;
    const float d = avg - mean;
    const float dd = d * d;
    const float ddn = dd * n;
    const float ddnc = ddn * c;
    const float between = ddnc * f;
    const float more = own + between;
    squares = squares + more;
    const float nf = n * f, cf = c * f;
    const float old = nf * avg;
    const float fresh = cf * mean;
    avg = old + fresh;
    n = static_cast<float>(all);
  }
  return {avg, squares / n};
}

Matrix<float> bits_called(const Declared& declared, const std::string& name, std::size_t tensor, std::size_t tensors,
                          const Handed& handed) {
  std::vector<Matrix<float>> addends;
  for (const auto& own : handed) addends.push_back(own.at(name));
  const auto sum = pooled_sum_bits(declared, tensor, tensors, addends);
  return sum ? *sum : Matrix<float>();
}

Pooled of_bits(float sum, float squares, float inverse, bool in_one_pass) {
  const float mean = sum * inverse;
  const float square = squares * inverse;
  if (!in_one_pass) return {mean, square};
  const float of_mean = mean * mean;
  const float difference = square - of_mean;
  return {mean, difference < 0 ? 0 : difference};
}

}  // namespace

Prediction pooled_sum_bits(const Declared& declared, std::size_t tensor, std::size_t tensors,
                           const std::vector<Matrix<float>>& addends) {
  Declared sums = declared;
  sums.accumulate = format_of(Dtype::fp32);
  return rounded_over_ranks(sums, place_in_step(addends.front().size(), addends.size(), tensor, tensors), addends);
}

PooledBits pooled_bits(const Declared& declared, const Layer& layer, StepStatistics by,
                       const std::vector<std::int64_t>& counts, const Handed& handed) {
  const bool merges = by == StepStatistics::moments, in_one_pass = by == StepStatistics::sums;
  const char* const operation = merges ? "batch_norm.merge_moments" : "batch_norm.pool_sums";
  if (!as_written(declared, operation)) return {};
  const float eps = held(layer.number("eps"));
  const auto n = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const auto inverse = static_cast<float>(1 / static_cast<double>(n));
  Matrix<float> sum, squares;
  if (!merges) {
    sum = bits_called(declared, "sum", 0, step_tensors(by).size(), handed);
    squares = in_one_pass ? bits_called(declared, "sum_squares", 1, 2, handed)
                          : bits_called(declared, "squares", 0, 1, handed);
    if (sum.size() == 0 || squares.size() == 0) return {};
  }
  const Eigen::Index features = merges ? handed.front().at("mean").size() : sum.size();
  Matrix<float> mean(1, features), var(1, features), rstd(1, features);
  for (Eigen::Index j = 0; j < features; ++j) {
    const Pooled found =
        merges ? merged(counts, handed, j) : of_bits(sum.data()[j], squares.data()[j], inverse, in_one_pass);
    mean(j) = found.mean;
    var(j) = found.var;
    const float root = std::sqrt(found.var + eps);
    rstd(j) = 1 / root;
  }
  return {mean, var, claim_of(declared, operation).rsqrt ? Prediction() : Prediction(rstd)};
}

}  // namespace tally::oracle
