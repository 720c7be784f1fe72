// What `tally vary` says of a loop, as plain data and as the document that --json prints.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/vary_runs.hpp"

namespace tally {

/// One tensor of a partition against the whole batch, relative to its largest element.
struct VaryTensorGap {
  std::string name;
  double in_high = std::numeric_limits<double>::quiet_NaN();  // the high precision
  std::optional<double> in_low;                               // the low one; none where it was not run
  double noise =
      0;  // what the low precision was seen to round here: by half ulps of the whole batch, in partitions that
          // passed; at least its unit
  std::string kind = "rounding";  // or "decision", "meaning"
  bool stepped = false;           // by an optimizer
};

/// A partition against the whole batch.
struct VaryGap {
  Partition sizes;
  double in_high = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> in_low;
  std::string tensor;  // that these are of; where the partition passes, the one that drifts farthest
  std::string kind;    // "rounding", "meaning", "decision", "not finite", "error"
  std::string error;   // what its run ended with
  std::vector<VaryTensorGap> tensors;
};

/// Runs and weights without which there is no verdict, in this order.
struct VaryAsks {
  std::vector<HowRun> runs;
  std::vector<HowWeights> weights;
  bool empty() const { return runs.empty() && weights.empty(); }
};

struct VaryReport {
  std::string verdict;                // "pass", "fail", "error" or "asks"
  std::string cause;                  // a name that `tally explain` knows, or of an error
  std::string what, change, numbers;  // the sentence in its parts
  VaryPlace place;                    // where in the user's program; of the loop itself, its name
  Partition partition;                // the coarsest that fails
  std::vector<VaryGap> gaps;          // in the order in which they were asked for
  VaryWeights weights;                // of what fails, where they were asked for
  std::vector<std::string> notes;
  VaryAsks asks;
  std::vector<std::string> precisions;  // as the runs have them
  VaryPlace loop;
  std::int64_t rows = 0;
  int windows = 0;
  double boundary = 0;  // a tensor whose in_high is more than this share of its in_low differs in meaning

  /// What is wrong, what to change, where, and the numbers; of a pass what it says.
  std::string sentence() const;
  /// The largest in_low of a tensor that differs by rounding in all partitions.
  double drift() const;
  /// By tensor, the largest in_low where it differs by rounding, and the largest in_high of all; the largest first.
  std::vector<VaryTensorGap> by_tensor() const;
};

/// "3, 3, 2"; "2, 2 on each of 2 ranks"; "the whole batch" for none.
std::string sizes_text(const Partition& sizes);

/// "micro-batches of 3, 3, 2 rows"; "2 ranks with micro-batches of 2, 2 rows".
std::string partition_text(const Partition& sizes);

/// "train.py:31 `loss.backward()`"; empty where nothing is known.
std::string place_text(const VaryPlace& place);

/// One final newline.
std::string to_json(const VaryReport& report);

}  // namespace tally
