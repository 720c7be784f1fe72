// What running a loop with other micro-batches has given: `vary.json` of a folder, as plain data.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

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

}  // namespace tally
