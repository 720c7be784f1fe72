// What a run showed of every kernel: by operation, variant and format of its tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/census/unusual.hpp"

namespace tally {

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
