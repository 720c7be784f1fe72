// Questions put to a device about its arithmetic, each answered by products small enough to know the answer by hand.
// What a library does not document, the bounds would otherwise have to assume at its worst.
#pragma once

#include <string>
#include <vector>

#include "kernels/device/device.hpp"

namespace tally {

/// How the device's GEMM treats its operands and sums.
struct GemmTraits {
  bool keeps_subnormals = false;        // fp32 operands below 2^-126 count
  std::string tf32_rounding;            // "nearest" | "truncate" | "none": operands stay fp32 though TF32 is allowed
  bool sums_to_nearest = false;         // fp16 operands: 1 + 3/2 2^-24 rounds up; truncated it is 1
  int fraction_bits = 0;                // of an aligned sum of fp16 products, 23 ... 25; 0: one after another
  bool half_accumulator_stops = false;  // `compute` fp16: 2048 + 1 + 1 + ... stays 2048
  bool repeats = false;                 // 20 times the same bits
  bool scales = false;                  // 2^7 A B has the bits of A B, 7 exponents up
};

/// Throws DeviceAbsent where the device is not there, CudaError where it fails.
GemmTraits probe_gemm(Device& on);

/// As people read it: question, answer, and what the bounds take from it.
struct Probe {
  std::string question, answer, consequence;
};
std::vector<Probe> probes_of(const GemmTraits& traits);

}  // namespace tally
