// Small kernels, each right and with one fault, for both host executors: what the executor and its checker must see.
// Values are small whole numbers, so every sum is exact in any order and a wrong one is a wrong number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"

namespace tally {

/// in fp32 [elements], out fp32 [elements], counters u32 [elements] cleared before every run.
struct DeviceFaultArguments {
  const float* in;
  float* out;
  unsigned* counters;
  std::int64_t elements;
};

inline constexpr std::int64_t fault_elements = 250;  // a tail in every block

struct DeviceFault {
  std::string operation;  // "device_fault.block_sum"; variants "right" and "~wrong"
  std::string what;       // what is wrong with the wrong one
  std::string found_as;   // how the checker's finding begins: "RACE (read after write) on shared 'partial'";
                          // empty: by its values alone
  bool streams = false;   // takes several streams, side by side
};

/// One for each fault.
const std::vector<DeviceFault>& device_faults();

/// What a run of a fault left, and what the executor found in it.
struct DeviceFaultRun {
  std::vector<float> out;
  std::string finding;  // empty: nothing
};

/// On fresh memory. `schedule`: a seed, or 0; `listed`, if not nullptr, comes before it; `recorded` as in Stream.
DeviceFaultRun run_device_fault(const DeviceFault& fault, bool right, ExecutorKind executor, std::uint64_t schedule,
                                const std::vector<Preemption>* listed = nullptr,
                                std::vector<Preemption>* recorded = nullptr);

}  // namespace tally
