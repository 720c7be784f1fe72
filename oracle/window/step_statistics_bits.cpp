// One operation a line, as kernels/arithmetic.md writes them.
#include <cmath>
#include <numeric>

#include "oracle/window/rank_sums.hpp"
#include "oracle/window/step_statistics.hpp"

namespace tally::oracle {
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
