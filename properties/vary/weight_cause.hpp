// Which cause the weights of micro-batches tell: as formulas of n_k, N, K, items and ranks.
#pragma once

#include "properties/vary/causes.hpp"
#include "reports/record/vary_runs.hpp"

namespace tally {

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

}  // namespace tally
