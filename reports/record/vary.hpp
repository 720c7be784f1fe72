// A loop that was run with other micro-batches: what it has given, `vary.json`, and what `tally vary` says of it.
// Defined in vary_runs.cpp, vary_report.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

// What running a loop with other micro-batches has given: `vary.json` of a folder, as plain data.

/// Rows of each micro-batch of a window, rank by rank; none: the whole window at once.
struct Partition : std::vector<std::int64_t> {
  using std::vector<std::int64_t>::vector;
  int ranks = 1;  // that have as many micro-batches each
  bool operator==(const Partition&) const = default;
};

/// What tells one run from another.
struct HowRun {
  Partition sizes = {};
  std::string precision = {};            // "float64"
  int moved = 0;                         // parameters and rows moved by half ulps, stream `moved`; 0: as they are
  std::string moved_by = {};             // of which precision; empty: of the low one
  bool again = false;                    // the second run of the same
  std::vector<std::string> frozen = {};  // layers held still: "batch_norm", "dropout"
  bool operator==(const HowRun&) const = default;
};

/// How far a tensor ended from that of the reference: the whole run, alike moved and frozen, in the high precision. NaN
/// where elements are not finite.
struct VaryTensor {
  std::string name;
  double scale = std::numeric_limits<double>::quiet_NaN();  // largest element of the reference
  double max = std::numeric_limits<double>::quiet_NaN();    // largest absolute difference
  bool stepped = false;                                     // by an optimizer
  /// The largest difference relative to the largest element, where there is one.
  double distance() const { return scale > 0 ? max / scale : scale == 0 ? max : scale; }
};

/// What a run ended with, and where.
struct VaryError {
  std::string type, text, file;
  int line = 0;
};

/// What a step is made with: one number of its optimizer's groups.
struct VaryOption {
  std::string name;                                         // "lr", "betas[0] of group 1"
  double value = std::numeric_limits<double>::quiet_NaN();  // NaN: not finite
};

/// Rows that an epoch ends with before their window is full.
struct VaryLeftOver {
  int window = 0;  // that is full with rows of the next epoch
  std::int64_t rows = 0;
  bool lost = false;  // cleared before it, in place of carried into it
};

/// A window that is stepped behind fewer micro-batches than others of the run, which have as many as were asked for.
struct VaryEarly {
  int window = 0, behind = 0, of = 0;
};

/// Rows that a window trains on more often than those of the whole batch.
struct VaryRepeated {
  int window = 0, times = 0;
  std::int64_t rows = 0;
};

struct VaryRun {
  HowRun how;
  std::vector<VaryTensor> tensors;
  std::vector<int> steps, micro_batches;    // of each window
  std::string rows_hash;                    // of all rows of all windows; empty: not known
  std::vector<std::vector<double>> items;   // of each window, of each micro-batch, where they were seen
  std::vector<std::vector<double>> places;  // those that the losses read, padding too
  std::vector<std::vector<std::vector<VaryOption>>> options;  // of each window, of each step
  std::vector<int> uncleared;  // windows whose step was handed what the one before had left
  std::vector<VaryLeftOver> left_over;
  std::string ranks_apart;  // in what ranks differ that they should have in common
  std::optional<VaryEarly> stepped_early;
  std::optional<VaryRepeated> repeated;
  std::optional<VaryError> error;
  bool trained = true;  // whether any tensor is another than before
};

/// A line of the user's program.
struct VaryPlace {
  std::string file, text;
  int line = 0;
};

struct HowWeights {
  Partition sizes;
  std::vector<std::string> frozen;
  int window = 0;
  bool operator==(const HowWeights&) const = default;
};

struct VaryTerm {
  std::string name;  // "window 0's gradient", "the parameters", "the moments"
  double weight = 0;
};

/// A term of the loss, with weights of its own. One that reads no row weighs the same in every micro-batch.
struct VaryPart {
  std::string name;  // "kl_div"
  VaryPlace place;
  std::vector<double> found, meant;  // of a row of each micro-batch
  double rest = 0, meant_rest = 0;
  bool no_row = false;
};

/// What the window's first step was handed, as a sum of the gradients of its micro-batches' rows.
struct VaryWeights {
  HowWeights how;
  bool names_window = false;         // whether later windows can be asked for
  std::vector<std::int64_t> dealt;   // rows of each micro-batch of the window, where it had others than were asked for
  std::vector<double> found, meant;  // of a row of each micro-batch; none: no step was handed a gradient
  double rest = 0, meant_rest = 0;   // what no weights explain, of the norm
  std::vector<VaryTerm> terms;       // a fit with further terms
  double terms_rest = std::numeric_limits<double>::quiet_NaN();
  std::vector<VaryPart> parts;  // of the loss, where no weights of the micro-batches' rows explain it
  VaryPlace place;

  const std::vector<std::int64_t>& rows() const { return dealt.empty() ? how.sizes : dealt; }
};

struct VaryRuns {
  VaryPlace loop;  // `text` is its name
  std::string kind, torch;
  std::int64_t rows = 0;
  int windows = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> precisions;  // the high one first
  std::vector<int> nproc;               // numbers of ranks that the rows are dealt to as well
  bool equal_only = false;              // all micro-batches of a window are of one size
  bool sizes_told = true;               // else the loop is told the largest micro-batch and their number alone
  std::vector<VaryRun> runs;
  std::vector<VaryWeights> weights;
  std::vector<std::string> notes, layers;
};

/// Throws std::runtime_error: "out/vary.json: $.runs[0].moved: found ..., expected ...". Keys that nobody knows are left
/// alone.
VaryRuns vary_runs_of(std::string_view text, const std::string& name);

// What `tally vary` says of a loop, as plain data and as the document that --json prints.

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
