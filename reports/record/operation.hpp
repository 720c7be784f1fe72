// What one kernel operation did in one case: its bits, and how near its error came to its bound.
#pragma once

#include <cstdint>
#include <string>

namespace tally {

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

}  // namespace tally
