// What the exact sweeps share: training problems, their parameters as points of a space, the same samples in windows,
// halved rates, the noise of gradients. Defined in exact_problem.cpp, gradient_noise.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/exact/trajectory.hpp"

namespace tally {

// Parameters and gradients as points of one space, for the sweeps that measure distances in it.

using ExactState = oracle::State<long double>;
/// All parameters (or their gradients) one after another, by name.
using Point = std::vector<long double>;

Point point_of(const oracle::Tensors<long double>& tensors);
Point parameters_of(const ExactState& state);

long double norm(const Point& p);
Point difference(const Point& a, const Point& b);
/// sum += weight p; an empty sum counts as zeros.
void add_to(Point& sum, long double weight, const Point& p);

/// The exact parameters after all windows of an accumulated run.
Point trained(const Case& c);
/// The parameters the case starts with.
Point untrained(const Case& c);

/// The exact gradient of every window at the parameters the case starts with.
std::vector<Point> gradients_at_start(const Case& c);

// The training problems that the exact sweeps share: a small network on drawn data, or on a slice of the digits.

enum class RowSource { drawn, digits };

struct ExactProblem {
  RowSource source = RowSource::drawn;
  std::int64_t rows = 64;
  std::uint64_t seed = 1;          // draws parameters and drawn data; of the digits, the first row taken
  Dtype storage = Dtype::fp32;     // values of x are those of fp16 in every format, so that all share one exact answer
  std::vector<Layer> hidden = {};  // before the last linear layer; empty: linear 16, tanh (smooth: no decisions)
};

/// One window of one micro-batch. Drawn rows have 8 features, normal, and the class of their largest among the first 4;
/// digits 64 pixels in [0, 1] and 10 classes. Cross-entropy, SGD without momentum at rate 2^-6, no decay, clip or
/// scale.
Case exact_case(const ExactProblem& problem);

/// "drawn data, 8-16-4".
std::string title_of(const ExactProblem& problem);

/// The same rows in `count` windows of `micro_batches` micro-batches of `rows` rows; they must use up the case's rows.
Case in_windows(Case c, std::int64_t count, std::int64_t micro_batches, std::int64_t rows);

/// The same with another optimizer and constant learning rate.
Case with_optimizer(Case c, Choice optimizer, double rate);
Choice sgd(double momentum);

// SGD with momentum on the same samples in windows of K micro-batches: the run, its first-order part, and rules that
// set a step on K micro-batches from a step on one.
//
// A buffer that decays by beta a step forgets half of a gradient in ln(1/2) / ln(beta) steps. A step on K micro-batches
// is K times as many samples, so beta^K keeps the half-life in samples, and with the rate
// K h (1 - beta^K) / (1 - beta) a gradient moves the parameters as far in the end.

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

// The order p of a distance d(h) = C h^p (1 + c h + …) in the learning rate h, from rates halved again and again.
// A fitted line would carry the term c h along as if it were scatter; halving takes it off.

struct RateOrder {
  double value = 0, low = 0, high = 0;
  /// False where any of it is NaN.
  bool contains(double order) const { return low <= order && order <= high; }
};

/// `distances[i]` at rate h / 2^i, at least four of them; the last four count. p(h) = log2 d(2h) - log2 d(h) is
/// p + x + y up to third order, x of first and y of second order in h, so that p(2h) - p(h) = x + 3 y and
/// p(4h) - p(2h) = 2 x + 12 y. The interval reaches 2 |x + 3 y| + |2 x + 12 y| >= |x + y| to each side.
RateOrder order_in_rate(const std::vector<double>& distances);

/// "1.9998 (1.9995 to 2.0001)".
std::string words_of(const RateOrder& order);

// The gradient noise scale tr(Sigma) / |G|^2 (McCandlish et al. 2018, "An Empirical Model of Large-Batch Training",
// appendix A.1), exact over a set of rows and estimated from the micro-batches of one window.

/// tr(Sigma) of one row's gradient, and |G|^2 of their mean.
struct GradientNoise {
  long double trace = 0, squared_norm = 0;
  long double scale() const { return trace / squared_norm; }
};

/// Over all rows, each equally likely: Sigma has the divisor R.
GradientNoise exact_noise(const std::vector<Point>& row_gradients);

/// From the mean gradients of at least two micro-batches of b rows, N rows together:
///   tr(Sigma) ~ (mean |g_b|^2 - |g_N|^2) / (1/b - 1/N),   |G|^2 ~ (N |g_N|^2 - b mean |g_b|^2) / (N - b).
/// Unbiased for rows drawn independently. For rows drawn without replacement from R, the first is unbiased for the
/// covariance with the divisor R - 1, and the second for |G|^2 less that trace / R.
GradientNoise estimated_noise(const std::vector<Point>& micro_batch_gradients, std::int64_t rows);

Point mean_of(const std::vector<Point>& points);
long double squared_norm(const Point& p);

// Windows of rows drawn with replacement, for the noise of their gradients. The rows at hand are then the whole
// population: tr(Sigma) over them is the truth, and |g_N - G|^2 has the mean tr(Sigma) / N without a correction.

struct DrawnWindows {
  const std::vector<Point>& row_gradients;
  std::uint64_t seed = 1, count = 100;
};

/// One estimate a window, by rows of a micro-batch: 1, 2, 4, ... below the window's rows (a power of two). All sizes
/// see the same windows.
struct NoiseEstimates {
  std::vector<double> traces, squared_norms;
};
std::map<std::int64_t, NoiseEstimates> noise_estimates(const DrawnWindows& windows, std::int64_t window_rows);

/// |g_N - G|^2 of every window, by N = 1, 2, 4, ... up to `largest`.
std::map<std::int64_t, std::vector<double>> squared_deviations(const DrawnWindows& windows, std::int64_t largest);

}  // namespace tally
