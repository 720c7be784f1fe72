// What makes micro-batches differ from the whole batch, and what to change: causes told by weights, by counts that
// nobody saw, by other steps. Defined in causes.cpp, weight_cause.cpp, told_cause.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "properties/diagnosis/vary/runs.hpp"
#include "reports/record/vary.hpp"

namespace tally {

// What makes micro-batches differ from the whole batch, and what to change: as a loop's author would say it.

/// In its texts {K}, {N}, {n}, … stand for numbers of the window; without numbers, as `tally explain` prints them, for
/// their letters.
struct VaryCause {
  std::string name;    // "1/(K n_k)"
  std::string factor;  // by which a row of micro-batch k weighs too much, where that tells the cause: "N/(K n_k)"
  std::string what, change;
};

const std::vector<VaryCause>& vary_causes();
/// The cause of a name that is there.
const VaryCause& vary_cause(std::string_view name);

using CauseNumbers = std::vector<std::pair<std::string, std::string>>;  // "K", "3"
/// With numbers in place of the braces; "{K=}" becomes "K = 3". Those that are not given become their letters, one that is
/// empty leaves no gap.
std::string filled_in(const std::string& text, const CauseNumbers& numbers);

/// Three digits; more of a whole number.
std::string figure_text(double value);
/// Two numbers that differ, with as many digits as tell them apart.
std::pair<std::string, std::string> texts_apart(double one, double other);

// Which cause the weights of micro-batches tell: as formulas of n_k, N, K, items and ranks.

/// What a window was dealt into.
struct VaryCounts {
  std::vector<double> rows;         // of each micro-batch, rank by rank
  std::vector<double> items;        // that count in the loss; the rows where none were seen
  int ranks = 1;                    // that have as many micro-batches each
  std::vector<double> places = {};  // that the loss reads, those of padding too; none where they were not seen
  double whole_places = 0;          // the same of the whole batch, which may be padded further
  bool as_left = false;             // weights are of gradients as the loop left them, not of each micro-batch alone
};

/// A cause with the numbers that its texts are to be filled with.
struct ToldCause {
  std::string name;
  CauseNumbers numbers;
  std::string change = {};  // in place of the cause's own
  std::string whose = {};   // of a loss of several terms: which of them it is
};

/// Weights and counts of one partition.
struct WeighedPartition {
  VaryCounts counts;
  const VaryWeights* weights;
};

/// Names of the factors by which every micro-batch's found weight differs from the meant one, to within `sharpness`.
std::vector<std::string> factors_of_weights(const WeighedPartition& partition, double sharpness);

/// What the weights of the first tell; where they fit several formulas, those that fit the others too.
ToldCause cause_of_weights(const std::vector<WeighedPartition>& partitions, double sharpness);

/// Whether no micro-batch counts less than one before it, and not all alike; those that are silent count nothing.
bool counts_rise(const VaryWeights& weights, double sharpness);

/// Whether found and meant are the same, so that the cause lies behind this step.
bool are_as_meant(const VaryWeights& weights, double sharpness);

// What counts in a micro-batch's loss where nobody saw it, such as live rows: the weights say which share of the window's it is.

/// Shares of counts that nobody saw; none where they are of no whole numbers. What a micro-batch alone should weigh is
/// its share. Gradients as the loop left them tell it by what they weigh, were that `factors` over the share.
std::vector<double> hidden_shares(const WeighedPartition& partition, const std::vector<double>& factors,
                                  double sharpness);

/// Whether a micro-batch's gradient alone is scaled by what is no count.
bool has_a_scale_of_its_own(const WeighedPartition& partition, double sharpness);

// What makes a partition differ in meaning: other steps, or what these are handed.

/// Rows that an epoch leaves over for this run's micro-batches, and none for the whole batch.
std::optional<ToldCause> told_by_left_over(const VaryRun& whole, const VaryRun& parted);

/// A step before a window's last micro-batch, or rows that it trains on again.
std::optional<ToldCause> told_by_dealing(const VaryRun& parted);

/// The cause of a step that is handed what the one before it left, whatever the micro-batches are.
std::optional<ToldCause> told_by_uncleared(const VaryRun& run, int window);

/// Nothing where weights are asked for; those that tell the cause are the report's.
std::optional<ToldCause> told_cause(VaryReport& report, RunBook& book, const VaryGap& gap,
                                    const std::vector<std::string>& frozen);

/// Makes the report that of a failure by this cause.
void tell(VaryReport& report, const ToldCause& told);

}  // namespace tally
