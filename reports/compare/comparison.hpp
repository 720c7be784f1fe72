// Two runs of the same cases: which bits changed, and whether accuracy did.
// Defined in comparison.cpp, comparison_markdown.cpp, comparison_text.cpp, decision.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reports/compare/accuracy.hpp"
#include "reports/compare/entry.hpp"

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
  std::vector<std::string> refused = {};      // what cannot be blessed: "1 seeded fault got away"
  std::vector<std::string> open = {};         // what wants a bless: "28 cases blessed before and gone"
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

}  // namespace tally
