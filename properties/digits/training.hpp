// Training on real data: every cut of the same batches, in every precision, against one exact trajectory.
// Defined in training.cpp, cases.cpp, problems.cpp.
#pragma once

#include <string>
#include <vector>

#include "kernels/training_step/run.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

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
