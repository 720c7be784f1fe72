// Which kernels changed by themselves, and which only computed on what those changed.
// Defined in kernel_changes.cpp, kernel_changes_text.cpp.
#pragma once

#include <string>
#include <vector>

#include "reports/compare/comparison.hpp"

namespace tally {

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

}  // namespace tally
