// How unusual it is that a right kernel uses as much of its bound, and what a run showed of every kernel.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

// How unusual it is that a right kernel uses as much of its bound: by the tensors of clean cases that a kept
// study counted. A bound of one rounding is always reached, so what counts is the share used beyond it
// (TensorCheck::excess).

/// The usual excess of one operation in one format of storage.
struct UsualExcess {
  std::string operation, format;
  double tensors = 0;
  std::vector<double> tail;    // shares of tensors that lie above, falling: 0.5, 0.1, ...; the last is 1 / tensors
  std::vector<double> excess;  // the least excess of those
};

/// The excess that this share of the tensors reaches; the most where too few were counted.
double usual_at(const UsualExcess& row, double share);

class Usual {
 public:
  /// From the last study of that name, `bench excess`, among those of the results; without one, nothing is
  /// known.
  explicit Usual(const Results& results);

  bool known() const { return !rows_.empty(); }
  /// The share of clean tensors of this operation and format that come at least as near to their bounds, at least
  /// 1 / (tensors + 1); of a pair that was not counted, of all operations of that format; 1 where nothing is known.
  double share(const std::string& operation, const std::string& format, double excess) const;
  /// "1 in 2,300 clean tensors", "beyond all of 14,000 clean tensors"; empty where nothing is known or the excess is 0.
  std::string text(const std::string& operation, const std::string& format, double excess) const;
  /// The row that share() reads; nullptr where there is none.
  const UsualExcess* row(const std::string& operation, const std::string& format) const;

 private:
  std::map<std::pair<std::string, std::string>, UsualExcess> rows_;  // by operation and format
};

/// The operation of a case whose excess is the most unusual; nullptr where none has one. The larger excess stands first
/// among several shares that are equal.
const OperationRecord* most_unusual(const CaseRecord& c, const Usual& usual);

/// What a case uses of its bounds: the excess of its most unusual operation, 0 where there is none; of a failing case,
/// and of older results that hold no excess, the worst r.
double used_of(const CaseRecord& c, const Usual& usual);

/// Passing cases, the most unusual first: by share, then excess, then r, then id. The rest of by_severity() stands in
/// front as it is.
std::vector<const CaseRecord*> by_unusualness(const Results& results, const Usual& usual);

// What a run showed of every kernel: by operation, variant and format of its tensors.

struct KernelResult {
  std::string operation, variant, format;
  std::uint64_t cases = 0, checks = 0, vacuous = 0, shapes = 0;
  std::uint64_t paths = 0, paths_seen = 0;  // of its launches in all formats; 0 where none is declared
  double ratio = 0, roundings = 0;          // the worst r, the widest bound in last roundings
  double excess = 0, share = 1;             // the most unusual use of a bound, and the share of clean tensors above it
  const CaseRecord* worst = nullptr;        // of that; nullptr where nothing goes beyond the last rounding

  std::string name() const { return variant.empty() ? operation : operation + "/" + variant; }
  /// No room in any bound for a second rounding as large as the last: r reaches 1 by design.
  bool one_rounding() const { return roundings < 2; }
};

/// The most unusual first, then by name and format. Failing cases are in none: they hold no operations.
std::vector<KernelResult> kernel_results(const Results& results, const Usual& usual);

}  // namespace tally
