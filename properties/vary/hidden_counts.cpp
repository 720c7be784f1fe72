#include "properties/vary/hidden_counts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tally {
namespace {

double whole_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

bool are_near(double a, double b, double sharpness) {
  return std::fabs(a - b) <= sharpness * std::max(std::fabs(a), std::fabs(b));
}

/// Whether these shares are those of whole numbers, as counts are. Nearer than numbers that are none come by chance.
bool are_of_counts(const std::vector<double>& shares, double sharpness) {
  const double sharper = sharpness * std::sqrt(sharpness);
  for (double all = 1; all * std::sqrt(sharpness) <= 1; ++all) {
    const auto whole = [&](double share) { return std::fabs(share * all - std::round(share * all)) <= sharper * all; };
    if (std::ranges::all_of(shares, whole)) return true;
  }
  return false;
}

/// The shares of what counts in a micro-batch's loss alone, by what it should weigh: all of the window's, where its
/// mean is taken.
std::vector<double> meant_shares(const WeighedPartition& partition) {
  std::vector<double> shares;
  for (std::size_t k = 0; k < partition.counts.rows.size(); ++k)
    shares.push_back(partition.weights->meant[k] * partition.counts.rows[k]);
  return shares;
}

}  // namespace

std::vector<double> hidden_shares(const WeighedPartition& partition, const std::vector<double>& factors,
                                  double sharpness) {
  std::vector<double> shares = partition.counts.as_left ? std::vector<double>{} : meant_shares(partition);
  for (std::size_t k = 0; partition.counts.as_left && k < factors.size(); ++k)
    shares.push_back(
        partition.weights->found[k] == 0 ? 0 : factors[k] * partition.weights->meant[k] / partition.weights->found[k]);
  const bool positive = std::ranges::all_of(shares, [](double share) { return share >= 0; });
  return positive && are_near(whole_of(shares), 1, sharpness) && are_of_counts(shares, sharpness)
             ? shares
             : std::vector<double>{};
}

bool has_a_scale_of_its_own(const WeighedPartition& partition, double sharpness) {
  if (partition.counts.as_left || partition.counts.ranks > 1) return false;
  const std::vector<double> shares = meant_shares(partition);
  if (are_near(whole_of(shares), 1, sharpness) && are_of_counts(shares, sharpness)) return false;
  const auto follow = [&](const std::vector<double>& own) {
    for (std::size_t k = 0; k < shares.size(); ++k)
      if (!are_near(shares[k] * own[0], shares[0] * own[k], sharpness)) return false;
    return true;
  };
  return !follow(partition.counts.rows) && !follow(partition.counts.items);
}

}  // namespace tally
