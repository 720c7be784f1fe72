// How r = error / bound is distributed over many elements: counts in fixed logarithmic bins, so that parts add up to
// the same whole in any order.
#pragma once

#include <array>
#include <cstdint>

namespace tally {

class RatioHistogram {
 public:
  /// Eight equal steps an octave from 2^-40 to 1, and one bin for 1 and above. Smaller ratios count in the first.
  static constexpr int steps = 8, octaves = 40, bins = steps * octaves + 1;

  /// r > 0, or infinite.
  void add(double r) { add_to(bin_of(r), 1); }
  void add_to(int bin, std::uint64_t count) { counts_[static_cast<std::size_t>(bin)] += count; }
  void merge(const RatioHistogram& other);

  std::uint64_t count() const;
  std::uint64_t count_in(int bin) const { return counts_[static_cast<std::size_t>(bin)]; }
  /// The lower edge of the bin in which `share` of all counts is reached, a lower bound of that quantile but for
  /// ratios below 2^-40; 0 when empty.
  double quantile(double share) const;

  static int bin_of(double r);
  static double lower_edge(int bin);
  friend bool operator==(const RatioHistogram&, const RatioHistogram&) = default;

 private:
  std::array<std::uint64_t, bins> counts_ = {};
};

}  // namespace tally
