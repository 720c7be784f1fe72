#include "properties/studies/sweeps/equal_samples.hpp"

#include <cmath>

#include "properties/studies/sweeps/exact_problem.hpp"

namespace tally {
namespace {

MomentumSettings same(MomentumSettings one, double) { return one; }

MomentumSettings rate_times_k(MomentumSettings one, double k) { return {k * one.rate, one.beta}; }

MomentumSettings half_life_kept(MomentumSettings one, double k) {
  const double beta = std::pow(one.beta, k);
  return {k * one.rate * ((1 - beta) / (1 - one.beta)), beta};
}

}  // namespace

const std::vector<MomentumRule>& momentum_rules() {
  static const std::vector<MomentumRule> all{
      {"same rate, same β", same}, {"rate × K, same β", rate_times_k}, {"half-life kept", half_life_kept}};
  return all;
}

double half_life(double beta) { return std::log(0.5) / std::log(beta); }

Point trained_in_windows(const Case& c, std::int64_t k, std::int64_t rows, MomentumSettings with) {
  const std::int64_t windows = c.tensors.at("x").shape[0] / (k * rows);
  return trained(with_optimizer(in_windows(c, windows, k, rows), sgd(with.beta), with.rate));
}

Point first_order_way(const std::vector<Point>& gradients, std::int64_t k, MomentumSettings with) {
  Point way;
  const auto micro_batches = static_cast<std::int64_t>(gradients.size());
  const long double beta = with.beta, rate = with.rate;
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    const auto left = static_cast<long double>(micro_batches / k - i / k);
    const long double weight = rate * (1 - std::pow(beta, left)) / (1 - beta);
    add_to(way, -weight / static_cast<long double>(k), gradients[static_cast<std::size_t>(i)]);
  }
  return way;
}

}  // namespace tally
