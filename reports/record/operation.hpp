// What one kernel operation did in one case: its bits, and how near its error came to its bound.
#pragma once

#include <string>

namespace tally {

struct OperationRecord {
  std::string operation;  // "batch_norm.statistics"
  std::string variant;    // the kernel that ran; empty where no kernel is registered for it
  std::string inputs;     // 16 hexadecimal digits of the SHA-256 of the bits it read, of every judged run
  std::string bits;       // the same of what it wrote
  bool repeats = true;    // whether the kernel claims the same bits every time
  double drift = 0;       // root mean square over its tensors of ||error|| / ||bound||, by the local lens
};

}  // namespace tally
