// What a campaign found, as plain data. properties/ fills it in; reports/ renders it, gates it, and never computes it.
// Defined in record.cpp, documents.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/study.hpp"
#include "reports/record/triggers.hpp"

namespace tally {

/// What the statistical lens concludes from one tensor (oracle/spread.md): the least likely of its tests.
struct SpreadFinding {
  std::string test;  // "element", "tensor", "along gradient", …; empty: no test was made
  std::uint64_t comparisons = 0;
  double log10_chance = 0;  // of a correct subject showing the like, at most; one comparison, uncorrected
  double deviation = 0;     // in units of the spread: the element's, the root mean square's, the projection's
  double share = 0;         // of the direction that the error contains, where the test is along one
};

/// What a bound is made of: by how much it falls where one source is switched off. `other` is the rest, so that the sum
/// is the bound: the distance of constants to their floats, less the products of two sources, counted in both.
struct BoundTerms {
  double input = 0;         // carried in by the stage's inputs; 0 in the local lens
  double accumulation = 0;  // the stage's own arithmetic: products, sums, quotients, roots
  double storage = 0;       // rounding into the format that the tensor is stored in
  double function = 0;      // exp, log, tanh, erf
  double other = 0;
  double sum() const { return input + accumulation + storage + function + other; }
};
/// "accumulation 93 %, storage 7 %": the shares of one in a thousand and more; empty where all terms are 0.
std::string text_of(const BoundTerms& terms);

/// One tensor held against its expectation.
struct TensorCheck {
  // Defined once, in record.cpp: most files that hold one would compile their own copy of these.
  TensorCheck();
  TensorCheck(const TensorCheck&);
  TensorCheck(TensorCheck&&) noexcept;
  TensorCheck& operator=(const TensorCheck&);
  TensorCheck& operator=(TensorCheck&&) noexcept;
  ~TensorCheck();

  std::string lens;     // "local", "group", "end_to_end", "exact", "bitwise", "relation"
  std::string tap;      // "w0/m1/backward/d.fc1.weight"
  std::string stage;    // of lens "group" all that it judges together: "unscale..optimizer"
  std::string message;  // of a relation that does not hold, or of bits that nobody promises: that, in a sentence
  Status status = Status::pass;
  FailureClass failure = FailureClass::none;
  std::uint64_t elements = 0, differing = 0, over_bound = 0, non_finite = 0, uninformative = 0;
  double worst_ratio = 0;  // r = error / bound of the worst element; inf where only the bound is 0
  double excess = 0;       // largest (error - u) / (bound - u), u half an ulp as stored; r where that is over 1
  double roundings = 0;    // bound / u of the worst element: 1 where it is nothing but the last rounding
  std::vector<std::int64_t> worst_index;
  std::string place;  // of it, in the words of its layer, where these say more: "query 3 of sequence 1, head 2"
  double expected = 0, got = 0, error = 0, bound = 0;  // of the worst element
  BoundTerms terms;                                    // of that bound; all 0 where nobody asked
  bool zero_signal = false;
  double adopted_share = 0;  // of the branches that the expectation depends on: taken over from the trace
  SpreadFinding spread;
  std::vector<ElementCheck> elements_worst;                  // of a failing tensor, by error / bound, a few
  ElementProfile profile;                                    // of a failing tensor
  double norm_expected = 0, norm_error = 0, norm_bound = 0;  // 2-norms over the tensor; not written to results.json
};

/// A known bug whose formula explains the error of the first stage that fails (properties/diagnosis).
struct Suspicion {
  std::string name;         // "mean-of-means"
  double share = 0;         // of the squared error that the formula explains, 1: all of it
  int parameters = 0;       // of the formula, that were fitted to the error
  double factor = 1;        // got = factor * expected, where the formula is no more than that
  std::string factor_word;  // "1/K", "n_k/N", where the factor tells something
  std::string sentence;     // what the bug does
  std::string formula;
};
/// "looks like clip-before-unscale (explains 99.98 % of the error)"; empty for an empty list.
std::string text_of(const std::vector<Suspicion>& suspects);

/// What was found of one stage of a rank: its worst status, and how many tensors failed.
struct RankStage {
  std::string stage;
  Status status = Status::not_run;
  std::uint64_t failed = 0;
  bool first = false;  // of a pipeline: holds the tensor that fails first
  friend bool operator==(const RankStage&, const RankStage&) = default;
};
/// Neighbouring ranks of which all the same was found.
struct RankRow {
  std::int64_t first = 0, last = 0;
  std::vector<RankStage> stages;  // in the order of a window
  std::int64_t pipe = -1;         // of a pipeline, the stage that holds the layers
};

/// One case under one law.
struct CaseRecord {
  // Defined once, in record.cpp: most files that hold one would compile their own copy of these.
  CaseRecord();
  CaseRecord(const CaseRecord&);
  CaseRecord(CaseRecord&&) noexcept;
  CaseRecord& operator=(const CaseRecord&);
  CaseRecord& operator=(CaseRecord&&) noexcept;
  ~CaseRecord();

  std::string id;  // 12 hex digits of the case's hash and the law
  std::string law;
  std::string precision;  // "fp32", "fp16", ...
  std::string title;      // for people: "linear 8-16-4, K = 3, sgd"
  std::string token;      // or the path of the kept case file
  std::uint64_t seed = 0;
  int micro_batches = 0;  // largest K of its windows
  Status status = Status::pass;
  FailureClass failure = FailureClass::none;
  std::string message;      // one sentence on failure, why not run, why vacuous
  std::string first_stage;  // of a failure
  std::string kernel;       // behind it: "norm/two_stage, kernels/reduction/norm.cu"; empty where none is known
  std::uint64_t checks = 0, vacuous_checks = 0, elements = 0, zero_signal_checks = 0;
  std::string formats;  // what it computes with, as in its title: "fp16, buffer fp16"; empty in older results
  double worst_local_ratio = 0, worst_end_to_end_ratio = 0;
  double worst_local_excess = 0, worst_end_to_end_excess = 0;
  std::uint64_t comparisons = 0;            // of the statistical lens
  double least_log10_chance = 0;            // of all of them
  std::string least_likely;                 // its tap and test
  double rounding_drift = 0;                // ||subject - exact|| / ||exact|| of the first window's gradient
  double semantic_gap = 0;                  // ||accumulated - full|| / ||full|| of the first window's gradient, exact
  double drift_bound = 0;                   // ||e|| / ||exact||
  double decision_drift = 0;                // of v_A - v_F the part that other masks explain, as a share of ||exact||
  double adopted_share = 0;                 // largest of its checks
  std::vector<TensorCheck> worst;           // failing and near-limit checks, worst first, a few
  std::vector<Suspicion> suspects;          // of a failure, the likeliest first
  std::vector<RankRow> ranks;               // of a failure of ranks that train together
  std::string first_tap;                    // the same: what fails first
  std::vector<OperationRecord> operations;  // of the runs that the lenses judged, sorted by operation
};

struct LawRecord {
  std::string name, family, statement;
  std::vector<std::string> faults;  // that break it
  std::string control;              // what must differ, and did
  Status status = Status::not_run;
  bool control_differs = false;
  std::uint64_t cases = 0, failed = 0, vacuous = 0, not_run = 0, checks = 0;
  double worst_ratio = 0;
  std::string message;
};

struct FaultRecord {
  std::string name, stage, right, wrong, source;  // catalogue row
  bool caught = false, right_stage = false;
  std::string law, found_stage, token, message;
  std::vector<Suspicion> suspects;  // the likeliest first
  bool right_suspect = false;       // the likeliest one stands for this fault
  std::string knob;                 // what a magnitude scales: "value", "rows", ..., "none"; empty: not known
  double magnitude = 1;             // it ran at: 1 as it was shipped, less for less of it
  double smallest_caught = 0;       // the smallest magnitude at which it is still caught; 0: not looked for
};

/// One configuration of a training campaign on real data (digits, tutorial).
struct TrainingRecord {
  std::string dataset, model, precision, cut;  // cut: "K=4", "uneven"
  int windows = 0, skipped = 0;
  double accuracy_accumulated = 0, accuracy_full = 0;
  std::vector<double> semantic_gap, rounding_drift, bound,
      accumulated_minus_full;  // per window, relative 2-norms of parameters
  Status status = Status::pass;
  std::uint64_t checks = 0;
  double worst_local_ratio = 0;
  std::string message;
};

struct Results {
  int schema = 1;
  std::string campaign = "default";
  std::uint64_t seed = 0;
  double effort = 1;
  std::string options;   // of `tally verify`, what else decides which cases are drawn: "--unsteered --no-training"
  bool partial = false;  // interrupted, or a shard is missing
  std::string partial_reason;
  std::uint64_t ran_on_host = 0, ran_on_device = 0;  // tensor checks by where the subject ran
  std::string device_message;                        // "no GPU: not run"
  std::vector<LawRecord> laws;
  std::vector<CaseRecord> cases;
  std::vector<FaultRecord> faults;
  std::vector<TrainingRecord> training;
  std::vector<TriggerRecord> triggers;
  PairsRecord pairs;  // of a whole default campaign
  CertifiedRecord certified;
  bool triggers_required = false;  // the default campaign: one that no case shows is a failure
  std::string shard;               // "2/4": these are a part of a campaign, which only `tally merge` judges as a whole
  Environment environment;
  std::vector<Study> studies;  // measured before, kept with the program or given to `tally report`
};

/// Whether a law ran cases that count, broke on none, and its control, which must differ, did not.
bool control_is_missing(const LawRecord& law);

/// Whether it is held against the results that some trigger was not reached: a shard alone need not reach all.
bool triggers_are_missing(const Results& results);

/// error before all else where the oracle's own values disagree with their enclosures: then nothing it judged counts;
/// fail if a case, law or training failed, a control does not differ, a fault got away or triggers are missing; then
/// error; then not_run if the run is partial or nothing ran; vacuous if nothing but vacuous cases ran; else pass.
Status verdict_of(const Results& results);

/// Canonical JSON: sorted keys, shortest round-trip numbers, "inf", "-inf", "nan" as strings, one final newline.
std::string to_json(const Results& results);
/// Throws std::runtime_error with place, value found and what was expected.
Results results_of_json(std::string_view json);

/// Writes to a temporary name in the same folder and renames; through symbolic links to the file that they name. Throws
/// std::runtime_error, also where the name belongs to a device, a pipe or a folder.
void write_atomically(const std::string& file, std::string_view content);

// When a finding of the statistical lens counts (oracle/spread.md).

/// A campaign fails where a correct subject would show the like with a chance below family_alpha, and warns below
/// warning_alpha; each comparison gets an equal share of it among the most that a campaign may make (Bonferroni), so
/// that a case's verdict depends neither on the campaign around it nor on how it is sharded.
inline constexpr double family_alpha = 1e-9, warning_alpha = 1e-3;
inline constexpr double most_comparisons = 0x1p30;

/// What one comparison gets of `alpha`, as a decimal logarithm.
double log10_share(double alpha);

enum class SpreadVerdict { expected, warning, fail };
SpreadVerdict verdict_of(double log10_chance);

// A word by which readers of other files than the results choose cases.

/// "ranks" of a case that several ranks train, as its title says; else empty.
std::string tag_of(const CaseRecord& c);

// What a law comes to, from the records of its cases.

/// Sorts the cases by law and precision, and counts and settles every law from its cases; `control_differs` and
/// `partial` must stand: in a part of a run the control may be yet to come.
void settle_laws(Results& results);

// Which part of a campaign results are.

/// "2/4": the second of four.
struct ShardName {
  int index = 1, count = 1;
  std::string selection;  // which laws, precisions and numbers of cases the whole campaign has
  friend bool operator==(const ShardName&, const ShardName&) = default;
};
std::string text_of(const ShardName& shard);
/// Throws std::invalid_argument for anything but "i/n", 1 <= i <= n, or "i/n of …".
ShardName shard_name_of(const std::string& text);

}  // namespace tally
