// What the probe of atomics takes.
#pragma once

namespace tally {

/// sums[0] is added to in shared memory, sums[1] in global memory; both begin at 0.
struct AtomicAddArguments {
  float addend;
  float* sums;
};

}  // namespace tally
