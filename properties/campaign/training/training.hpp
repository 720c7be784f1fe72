// Training on real data: every cut of the same batches, in every precision, against one exact trajectory. Defined in
// training.cpp, training_problems.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/case.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/real/number.hpp"
#include "reports/record/record.hpp"

namespace tally {

// How many rows a trained model classifies right.

/// Share of all rows of x whose largest output is the target, with the parameters and running statistics the trace ends
/// with, evaluated in long double (BatchNorm with its running statistics).
double accuracy(const Case& c, const Trace& trace);

// The exact trajectory of a training problem at about 113 bits, a sample of its windows certified at 100 digits.

/// Parameters after each window, by name, as 1 x n rows.
using ParameterPath = std::vector<std::map<std::string, oracle::Matrix<double>>>;

struct ExactPath {
  ParameterPath parameters;  // exact values rounded to double: 2^-53 relative, far below any drift shown
  std::uint64_t certified_windows = 0;
  bool agrees_at_100_digits = true;  // the sampled windows, from the same state, agree to 25 digits
};

ExactPath exact_path(const Case& c, oracle::Branch branch);

/// One way to cut a batch of 64 (and the tail of 5) into micro-batches.
struct BatchCut {
  std::string name;                      // "K=4", "uneven"
  std::vector<std::int64_t> full, tail;  // sizes of a full window and of the tail window
};

/// A model on a data set, and the ways its batches are cut.
struct TrainingProblem {
  std::string title;  // "digits, 64-32-10 BatchNorm"
  std::string dataset, model;
  std::vector<BatchCut> cuts;  // the first is K = 1: the full batch
  bool cuts_are_equivalent;    // every cut has the full batch's exact trajectory (no micro-batch statistics)
};

const std::vector<TrainingProblem>& training_problems();

/// The case of a problem under one cut: all windows of one epoch (digits), or one window (tutorial).
Case training_case(const TrainingProblem& problem, const BatchCut& cut, Dtype storage);

/// Runs every cut in every precision and holds each window against its bounds; drift per window against the exact
/// trajectory.
std::vector<TrainingRecord> run_training(const TrainingProblem& problem, const std::vector<Dtype>& precisions,
                                         const RunOptions& subject);

}  // namespace tally
