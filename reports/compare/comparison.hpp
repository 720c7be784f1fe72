// Two runs of the same cases: which bits changed, whether accuracy did, which kernels changed by themselves, and what
// is faster. Defined in comparison.cpp, comparison_text.cpp, kernel_changes.cpp, timing.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reports/compare/entry.hpp"
#include "reports/record/kernel_times.hpp"

namespace tally {

/// One law in one precision.
struct LawChange {
  std::string law, precision;
  std::uint64_t cases = 0, equal = 0;      // of both runs; of these, with the same digest
  std::uint64_t gone = 0, fresh = 0;       // of one run only
  std::uint64_t broken = 0, mended = 0;    // failing now and not before; the reverse
  double worst_before = 0, worst_now = 0;  // r of the cases of both
  Accuracy accuracy;                       // of the worst r of each case
};

/// One variant of a kernel operation in one precision, over all laws; where cases ran another one before, apart.
struct OperationChange {
  std::string operation, precision, variant_before, variant_now;
  bool repeats = true;                 // the kernels of both claim the same bits every time
  std::uint64_t cases = 0, equal = 0;  // of both runs; of these, with the same outputs
  std::uint64_t own = 0;               // with the same inputs and other outputs: changed by itself; not where it read
                                       // unseen numbers of an operation that did (OperationRecord::unseen)
  std::uint64_t tested = 0;            // with the same inputs: where a change of its own would be seen
  Accuracy accuracy;                   // of the drift, each kernel held against the exact function of its own input
  std::uint64_t changed() const { return cases - equal; }
};

struct Comparison {
  std::vector<LawChange> laws;              // by law and precision
  std::vector<OperationChange> operations;  // by operation, variants and precision
  std::uint64_t cases = 0, equal = 0, gone = 0, fresh = 0, broken = 0;
  bool bits_repeat = false;  // where both ran, equal inputs give equal bits whatever a kernel claims: on the host
};

/// Both sorted as entries_of() leaves them.
Comparison compared(const std::vector<CaseEntry>& before, const std::vector<CaseEntry>& now);
/// The comparison of two whole runs, which know where they ran.
Comparison compared(const Results& before, const Results& now);

/// Laws break that did not, or the errors of an operation have grown.
bool is_worse(const Comparison& comparison);

/// "bits equal", "inputs changed", "bits changed", "bits changed, accuracy the same".
std::string bits_text(const OperationChange& change);

/// Whether a law is to be shown: cases that broke or mended, another accuracy.
bool is_touched(const LawChange& change);

/// What there is to decide besides the kernels that changed.
struct Besides {
  std::uint64_t broken = 0, broken_laws = 0;  // cases that break their law, of so many laws; 0: not told
  std::vector<std::string> refused = {};      // what cannot be blessed: "1 seeded fault not caught"
  std::vector<std::string> open = {};         // what wants a bless: "28 cases blessed before, gone now"
};

/// What there is to decide, in one sentence: "1 kernel changed (norm/two_stage), as accurate, no bound broken: bless or
/// reject".
std::string decision_text(const Comparison& comparison, const Besides& besides);
/// The same for two runs: what is broken is what the first one did not break.
std::string decision_text(const Comparison& comparison);

struct ChangesText;

/// The kernels that changed, what followed, the cases that only one run has, and as its last line what there is to
/// decide: for a terminal.
std::string comparison_text(const Comparison& comparison, const ChangesText& how);
/// "results changed in 40 of 60 cases, of 3 laws and precisions; worst r 0.5 before, 0.51 now"; with `all` a table of
/// the laws too. Empty where nothing changed.
std::string law_changes_text(const Comparison& comparison, bool all);
/// The source file of a kernel, by operation and variant; empty where it is not known.
using FileOfKernel = std::function<std::string(const std::string& operation, const std::string& variant)>;

/// Job summaries that are longer are dropped whole.
inline constexpr std::size_t markdown_limit = 900'000;

/// The same for a pull request, at most `limit` bytes.
std::string comparison_markdown(const Comparison& comparison, std::size_t limit = markdown_limit,
                                const FileOfKernel& file_of = {});

// Which kernels changed by themselves, and which only computed on what those changed.

/// One kernel, with what changed of it in each precision.
struct KernelChange {
  std::string operation, variant;             // that runs now; a fused pass is its own operation
  std::string before;                         // the name of the kernel that ran before, where it was another one
  std::vector<const OperationChange*> parts;  // of the comparison, by precision

  std::string name() const { return variant.empty() ? operation : operation + "/" + variant; }
  std::uint64_t changed() const, cases() const, own() const, tested() const;
  /// The one whose accuracy is the worst: worse, undecided, better, the same; of equal ones the largest factor.
  const OperationChange& worst() const;
};

struct KernelChanges {
  std::vector<KernelChange> own;       // other bits from equal inputs, or another kernel; the worst first
  std::vector<KernelChange> followed;  // other bits, and no case where the inputs were equal
  std::vector<KernelChange> varied;    // other bits from equal inputs, as they may: their bits need not repeat
};

/// Whether the kernel itself changed: other bits from equal inputs, where equal inputs give equal bits, or another
/// kernel in its place. One that need not repeat its bits shows only where its accuracy changed.
bool changed_by_itself(const OperationChange& change, bool bits_repeat);

/// They point into the comparison.
KernelChanges kernel_changes_of(const Comparison& comparison);

/// How the text is written.
struct ChangesText {
  FileOfKernel file_of;  // none: no files are named
  bool all = false;      // every kernel in every precision, what followed too; else what fits on a screen
};

/// The kernels that changed, each with its file and what became of it in each precision; then in one line what
/// followed. Empty where nothing changed.
std::string text_of(const KernelChanges& changes, const ChangesText& how);

/// "accuracy the same: error 1x [1, 1.02] of before".
std::string accuracy_words(const Accuracy& accuracy);

// Which of two programs is faster, from runs made in turn.

struct Timing {
  std::vector<double> before, now;       // seconds of each pair of runs
  double factor = 1, low = 1, high = 1;  // median of now / before and its limits
  std::string verdict;                   // "faster", "slower", "undecided"
};

/// The limits are those of the median of the pairs; "undecided" unless a limit lies beyond 1 and enough pairs were run
/// to have shown it (five: 2^-5 < 0.05). Throws std::invalid_argument where the lists differ in length or are empty.
Timing timing_of(std::vector<double> before, std::vector<double> now);

/// "time of the campaign 1.02x [0.98, 1.05] undecided, 5 pairs of runs".
std::string text_of(const Timing& timing);

// Which kernel operations are faster or slower, from the same cases run by two programs in turn.

/// A factor within this is none; and so many pairs of runs, all alike, a verdict takes.
inline constexpr double tolerated_slowdown = 1.1;
inline constexpr std::size_t deciding_pairs = 3;

/// The times of one pair of runs.
struct TimedPair {
  std::vector<KernelTime> before, now;
};

struct KernelTiming {
  std::string operation, precision;
  std::size_t cases = 0, pairs = 0;
  double factor = 1, low = 1, high = 1;  // median over the cases of now / before, and limits
  std::string verdict;                   // "faster", "slower", "same", "undecided"
};

/// By operation and precision, of cases that both timed. A case's logarithm of now / before is the mean over the pairs;
/// the limits enclose the bootstrap limits of the median over the cases and every pair's own median, since what slows a
/// whole run slows all its cases alike.
///   slower     the lower limit above the tolerated factor, deciding_pairs of runs at least, and the signed-rank test
///              over the cases, corrected for all operations (Holm)
///   faster     the mirror of it
///   same       both limits within the tolerated factor, deciding_pairs at least
///   undecided  else
std::vector<KernelTiming> kernel_timings_of(const std::vector<TimedPair>& pairs);

/// The decided ones, worst first, and what the others come to; empty where nothing was timed.
std::string kernel_timings_text(const std::vector<KernelTiming>& timings);
std::string kernel_timings_markdown(const std::vector<KernelTiming>& timings);

}  // namespace tally
