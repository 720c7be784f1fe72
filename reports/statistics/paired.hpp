// Tests of paired differences, and an interval of their median. Every chance is one-sided: small where the differences
// are more often, or more, above 0 than below.
#pragma once

#include <cstdint>
#include <vector>

namespace tally {

// The binomial distribution, and what is tested by it.

/// The chance of at least `least` of `n` independent trials that succeed with chance `share`.
double binomial_tail(std::uint64_t least, std::uint64_t n, double share);

/// The chance of at least `successes` in `trials` fair coin throws.
double sign_test(std::uint64_t successes, std::uint64_t trials);

/// Wilcoxon's signed-rank test: zeros are left out, ties share their rank. By counting all signs up to 30 differences,
/// above by the normal distribution with corrections for ties and continuity (Hollander, Wolfe, Chicken, section 3.1).
double signed_rank_test(const std::vector<double>& differences);

/// Where the median of a resample (as many draws with replacement as there are values) falls below with chance `level`:
/// the lower bootstrap limit of the median, of infinitely many resamples. The order statistics x_1 <= x_2 <= ... have
/// P(median* <= x_k) = P(Bin(n, k / n) >= ceil(n / 2)) (Efron and Tibshirani, section 5.5). The lower median of an even
/// number. `values` must not be empty, and holds no NaN.
double median_lower_limit(std::vector<double> values, double level);
/// The same from above.
double median_upper_limit(std::vector<double> values, double level);

/// Holm's step-down correction: chances that can be held against one level together. In the order given.
std::vector<double> holm(const std::vector<double>& chances);

}  // namespace tally
