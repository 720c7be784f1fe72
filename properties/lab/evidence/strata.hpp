// What a campaign over clean cases found, counted by stratum: mergeable, so that forked jobs add up to the same whole
// whatever their number.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

// How r = error / bound is distributed over many elements: counts in fixed logarithmic bins, so that parts add up to
// the same whole in any order.

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

/// The elements of a case depend on one another; only cases are independent draws, so confidence goes by cases.
struct Stratum {
  std::uint64_t cases = 0, alarmed = 0;  // cases that have checks in it, and those of them with an alarm in it
  std::uint64_t refused = 0;             // cases whose verdict is vacuous though a gradient is not zero
  std::uint64_t checks = 0, alarms = 0, vacuous = 0, not_run = 0;  // hand-overs, bit for bit, count as checks
  std::uint64_t judged = 0;      // checks of a tensor with a signal against a bound: what a vacuous share is a share of
  RatioHistogram ratios;         // of elements whose bound and error are not zero
  double worst = 0;              // largest r of any element
  std::uint64_t worst_case = 0;  // the number of the case it stands in, and its tap
  std::string worst_tap;
  double least_chance = 0;  // log10 of the least likely finding of the statistical lens

  void see_worst(double r, std::uint64_t number, const std::string& tap);
  void merge(const Stratum& other);
  friend bool operator==(const Stratum&, const Stratum&) = default;
};

/// The first label says what the others mean: {"stage", lens, precision, part}.
using Labels = std::vector<std::string>;

class Strata {
 public:
  Stratum& at(const Labels& labels) { return strata_[labels]; }
  const std::map<Labels, Stratum>& all() const { return strata_; }
  void merge(const Strata& other);
  /// Everything whose labels begin like this, as one. Its cases are counted once a stratum: right only where a case
  /// stands in one of them.
  Stratum sum(const Labels& beginning) const;
  /// The different labels that follow `beginning`, sorted.
  std::vector<std::string> next(const Labels& beginning) const;
  /// The parts that this lens judged, whatever the precision, sorted.
  std::vector<std::string> parts(const std::string& lens) const;
  friend bool operator==(const Strata&, const Strata&) = default;

 private:
  std::map<Labels, Stratum> strata_;
};

/// Lines of text that read back exactly. Labels and taps hold no tab and no line end.
std::string text_of(const Strata& strata);
/// Throws std::runtime_error with the line that is wrong.
Strata strata_of_text(std::string_view text);

}  // namespace tally
