// SGD with momentum on the same samples in windows of K micro-batches: the run, its first-order part, and rules that
// set a step on K micro-batches from a step on one.
//
// A buffer that decays by beta a step forgets half of a gradient in ln(1/2) / ln(beta) steps. A step on K micro-batches
// is K times as many samples, so beta^K keeps the half-life in samples, and with the rate
// K h (1 - beta^K) / (1 - beta) a gradient moves the parameters as far in the end.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/studies/sweeps/parameter_space.hpp"

namespace tally {

struct MomentumSettings {
  double rate, beta;
};

struct MomentumRule {
  const char* name;
  MomentumSettings (*scaled)(MomentumSettings one, double k);  // at k = 1 the same bits
};

/// Nothing scaled; the rate times K; the half-life kept.
const std::vector<MomentumRule>& momentum_rules();

/// ln(1/2) / ln(beta), in steps.
double half_life(double beta);

/// The exact parameters after the case's rows in windows of K micro-batches of `rows` rows.
Point trained_in_windows(const Case& c, std::int64_t k, std::int64_t rows, MomentumSettings with);

/// The way those windows would go if no gradient changed on it, from the gradients of all micro-batches at the start:
/// window j of n counts for rate (1 - beta^(n - j + 1)) / (1 - beta), each of its micro-batches for a K-th of that.
/// K must divide the micro-batches.
Point first_order_way(const std::vector<Point>& gradients, std::int64_t k, MomentumSettings with);

}  // namespace tally
