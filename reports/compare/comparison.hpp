// Two runs of the same cases: which bits changed, and whether accuracy did.
#pragma once

#include <cstdint>
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
  std::uint64_t own = 0;               // with the same inputs and other outputs: changed by itself
  Accuracy accuracy;                   // of the drift, each kernel held against the exact function of its own input
  std::uint64_t changed() const { return cases - equal; }
};

struct Comparison {
  std::vector<LawChange> laws;              // by law and precision
  std::vector<OperationChange> operations;  // by operation, variants and precision
  std::uint64_t cases = 0, equal = 0, gone = 0, fresh = 0, broken = 0;
};

/// Both sorted as entries_of() leaves them.
Comparison compared(const std::vector<CaseEntry>& before, const std::vector<CaseEntry>& now);

/// Laws break that did not, or the errors of an operation have grown.
bool is_worse(const Comparison& comparison);

/// "bits equal", "inputs changed", "bits changed", "bits changed, accuracy the same".
std::string bits_text(const OperationChange& change);

/// Whether a change is to be shown: other bits from equal inputs, another variant, another accuracy. What only computed
/// on other inputs, as accurately as before, follows from one of those.
bool is_touched(const OperationChange& change);
/// The same of a law: cases that broke or mended, another accuracy.
bool is_touched(const LawChange& change);

/// What there is to decide, in one sentence: "1 kernel changed (norm/two_stage), as accurate, nothing newly broken:
/// bless or reject".
std::string decision_text(const Comparison& comparison);

/// Totals, operations that changed, laws that changed, what there is to decide: for a terminal.
std::string comparison_text(const Comparison& comparison);
/// The same for a pull request, at most `limit` bytes.
std::string comparison_markdown(const Comparison& comparison, std::size_t limit = 900'000);

}  // namespace tally
