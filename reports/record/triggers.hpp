// What the records of a case hold: triggers and what they reached, kernel operations, where a failing tensor's errors
// are, what was certified. Defined in triggers.cpp, record.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

// Triggers: what a case must show before a known kind of bug can be seen in it, and how often a campaign drew each.

struct TriggerRecord {
  std::string name, group;  // "overflow in the last micro-batch", "loss scale"
  std::string kind;         // "case", "kernel", "run", "setting", "option", "size", "path": a campaign must show it;
                            // "later": not yet, for the reason given
  std::string description;  // when it counts as seen, or why later
  std::uint64_t seen = 0;   // cases that showed it
  std::string pairs;  // hexadecimal: bit b of digit d is set where one run showed it with setting 4 d + b, of those of
                      // kind "setting" or "option" an earlier one
};

bool was_seen_with(const TriggerRecord& trigger, std::size_t other);
void see_with(TriggerRecord& trigger, std::size_t other);

/// Adds counts and pairs of another part of the same campaign; an empty list takes over the other. Throws
/// std::runtime_error where the parts know different triggers.
void merge_triggers(std::vector<TriggerRecord>& whole, const std::vector<TriggerRecord>& part);

struct TriggerTotals {
  std::uint64_t expected = 0, unreached = 0;  // of the kinds that a campaign must show
  std::uint64_t later = 0;
};
TriggerTotals trigger_totals(const std::vector<TriggerRecord>& triggers);

bool is_unreached(const TriggerRecord& trigger);
/// Shown, by so few cases that a bug may not show in them.
inline constexpr std::uint64_t few_cases = 5;
bool is_seen_by_few(const TriggerRecord& trigger);

/// Pairs of settings: those that stood together in some run, those that a rule keeps apart, and the others by name.
struct PairsRecord {
  std::uint64_t seen = 0, refused = 0;
  std::vector<std::string> unseen;  // "layer rms_norm beside ranks, sharding = parameters"
};

/// "71 of 73 triggers were reached; 157 of 157 values of options were drawn"; empty without triggers.
std::string trigger_sentence(const std::vector<TriggerRecord>& triggers);
/// "12,204 of 12,210 pairs of settings stood together, rules keep 2,080 more apart"; empty where none were counted.
std::string pairs_sentence(const PairsRecord& pairs);

// Launch paths, values of options and sizes among the records of triggers, as tables show them.

/// Whether a record is of kind "setting", "option", "size" or "path", or a path that is out of reach: made from the
/// program, not written down by hand.
bool is_made_from_the_program(const TriggerRecord& record);

/// What belongs together in a row: a kernel in one precision, an option, or a size.
struct ReachedRow {
  std::string group;  // "layer_norm.forward/two_pass", "optimizer adam"
  std::string name;   // "fp32", "beta1"
  struct Item {
    std::string name;  // "a warp a row: one block", "0.9"
    std::uint64_t seen = 0;
    std::string out_of_reach;
  };
  std::vector<Item> items;
  std::size_t wanted() const;  // items that are not out of reach
  std::size_t seen() const;    // of those
};

/// The rows of `kind`, "setting", "option", "size" or "path", in the order of the records.
std::vector<ReachedRow> reached_rows(const std::vector<TriggerRecord>& records, std::string_view kind);

// What of a run was evaluated again in certified arithmetic.

struct CertifiedRecord {
  std::uint64_t cases = 0, stages = 0;  // whole small cases; single stages of layers and losses
  std::uint64_t elements = 0;           // compared, of both
  std::uint64_t undecided = 0;          // cases and stages that no precision decided: not compared
  std::vector<std::string>
      disagreements;  // beyond the certificate and what the bound allows long double: tap and sizes
};

void add(CertifiedRecord& whole, const CertifiedRecord& part);

/// "152 stages and 31 whole cases evaluated again in certified arithmetic: 5,120 elements agree"; empty for none.
std::string certified_sentence(const CertifiedRecord& record);

// What one kernel operation did in one case: its bits, and how near its error came to its bound.

/// How the tensors of an operation stood to their bounds, by the local lens or that of fused stages. All 0 in older
/// results. Numbers are cut to three digits: they rank.
struct OperationStanding {
  std::string format;  // its tensors are stored in: "fp32", "fp16 fp32" where they differ
  std::string shapes;  // of them, the different ones: "4x3 7"
  std::uint64_t checks = 0, vacuous = 0;
  double ratio = 0;      // the worst r
  double excess = 0;     // the largest share of a bound that is used beyond its last rounding (TensorCheck::excess)
  double roundings = 0;  // the widest bound, in last roundings: below 2 there is room for no other
};

struct OperationRecord {
  std::string operation;  // "batch_norm.statistics"
  std::string variant;    // the kernel that ran; empty where no kernel is registered for it
  std::string inputs;     // 16 hexadecimal digits of the SHA-256 of the bits it read, of every judged run
  std::string bits;       // the same of what it wrote
  bool repeats = true;    // whether the kernel claims the same bits every time
  double drift = 0;       // root mean square over its tensors of ||error|| / ||bound||, by the local lens
  OperationStanding standing;
  std::string unseen;  // the operation whose numbers it read too where no tap holds their bits; empty: none
};

// Where in a failing tensor the errors are, small enough to be kept.

/// One of the worst elements of a failing tensor.
struct ElementCheck {
  std::vector<std::int64_t> index;
  double expected = 0, got = 0, error = 0, bound = 0;
};

/// A failing matrix in blocks of rows and columns, those at the ends perhaps smaller: the worst error / bound of each.
struct ElementMap {
  static constexpr std::size_t most_blocks = 32;    // each way
  std::uint64_t rows = 0, columns = 0;              // of the tensor; 0: it is no matrix
  std::uint64_t block_rows = 0, block_columns = 0;  // of a block
  std::vector<double> ratio;                        // block by block, row by row; inf where something is not finite
};

/// A failing tensor in row-major order, cut into stretches of equally many elements, the last one perhaps shorter.
/// Errors and bounds are in ulps, the spacing of the tensor's storage format at the element's exact value; what is
/// neither finite nor expected to be has error NaN.
struct ElementProfile {
  static constexpr std::size_t most_stretches = 96;
  std::uint64_t stretch = 0;         // elements each; 0: no profile was made
  std::vector<double> low, high;     // of got - expected in each stretch
  std::vector<double> value;         // exact value of the element of each with the largest error / bound
  std::vector<double> error, bound;  // of that element
  ElementMap map;
};

}  // namespace tally
