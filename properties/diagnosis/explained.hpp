// How well a formula explains an error, against chance; factors that are known bugs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "properties/diagnosis/evidence.hpp"

namespace tally {

// How well a formula explains an error, and what of that chance alone would do.

/// The share of the squared error |got - expected|^2, both rounded to the tensor's format, that a candidate explains in
/// place of the expectation:
///   share = 1 - |got - f candidate|^2 / |got - expected|^2,   f = 1, or fitted: <got, candidate> / |candidate|^2
/// Where elements are not finite that should be (or the other way round), the share is that of these elements: both
/// sets' intersection over their union, and f is 1.
struct Explained {
  double share = 0, factor = 1;
  /// Elements that count: (sum r^2)^2 / sum r^4 of the error r, so that one wild element counts as one.
  double dimensions = 0;
  /// What rounding to the formats of the tensors may leave unexplained: shares nearer than this to 1 are equally good.
  double resolution = 0;
  /// The rest of the squared error, at least that of half a rounding.
  double rest = 1;
  /// Whether every element is what the candidate says, as far as rounding lets it be told: a few roundings of the
  /// format, and the bound of the right value. A formula that comes near without being within is another bug's.
  bool within = false;
  /// The chance that a candidate without a reason does as well, where no rest counts as less than half a
  /// rounding of the format: a tensor of one 16-bit element shows next to nothing. Fixed: uniform in the ball around
  /// `got` that reaches to the expectation, (1 - share)^(n/2). Fitted: a random direction in n dimensions, whose share
  /// of the energy is Beta(1/2, (n - 1)/2), of mean 1/n; 1 for n <= 1, where any factor fits.
  double chance = 1;
};

/// `candidates[i]` stands for `held[i]`; where it is empty, the expectation itself does. So does `bounds[i]` for its
/// bounds, where a candidate has those of other places.
Explained explained_by(const std::vector<HeldTensor>& held, const std::vector<std::optional<Values>>& candidates,
                       bool fits_factor, const std::vector<std::optional<Values>>& bounds = {});

// Factors that a window's counts give: K, 1/K, n_k/N, N/(K n_k) and their like.

struct NamedFactor {
  double value;
  std::string name, with;  // "N/(K n_k)", " with n_k = 4, N = 14, K = 4"
};

/// The factors of a window of so many micro-batches and items, for the micro-batch with `own` of these items; 0: for
/// none of them.
std::vector<NamedFactor> factors_of_counts(double micro_batches, double own, double items);

// Factors that tell a story: 1/K, n_k/N, the loss scale, a half.

/// "(K-1)/K with K = 6" for a factor that is one of those of this window (and micro-batch, -1 for none), to within the
/// rounding of `dtype`; empty for any other, for 1, and for what is not finite.
std::string telling_factor(const Case& c, int window, int micro_batch, Dtype dtype, double factor);

}  // namespace tally
