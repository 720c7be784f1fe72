// Questions put to a device about its arithmetic, each answered by products small enough to know the answer by hand.
// What a library does not document, the bounds would otherwise have to assume at its worst.
//
// A library chooses its kernels by format and shape, so each question goes to many shapes, both result formats and
// every layout that a training step multiplies in, and what counts is the loosest answer of all.
// Defined in probes.cpp, kernels/device/probes/answers.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/device/gemm/blas.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// How the products of one kind (operands, accumulator) are summed.
struct SumTraits {
  bool answered = false;               // false: the device refused some of the products
  bool keeps_subnormals = false;       // operands, products and sums below the accumulator's smallest normal number
  std::string rounding = "unknown";    // of sums: "nearest" | "truncate" | "unknown": neither, or shapes differ
  std::size_t terms = 0;               // products that one aligned sum takes in; 1: one after another
  int fraction_bits = 0;               // such a sum keeps below its largest exponent; 0: fewer than 22, or no such sum
  bool parts_meet_to_nearest = false;  // sums truncate, but partial sums meet by roundings to nearest
  std::string row = "unknown";         // "scalar", the generation whose row fits, or "unknown"
};

/// How the device's GEMM treats its operands and sums.
struct GemmTraits {
  SumTraits fp32, tf32, fp16, bf16, in_half;  // operands; in_half: fp16, and the accumulator too
  std::string fp32_rounding = "unknown";      // of operands to TF32: "nearest" | "truncate" | "none": all bits count |
  std::string tf32_rounding = "unknown";  // "unknown": otherwise, or shapes differ; the second where TF32 is allowed
  std::size_t half_group = 0;  // `compute` fp16: the power of two that holds the products added before a rounding to
                               // fp16; 1: 2048 + 1 + 1 + ... stays 2048; half_probe_length: wider inside than fp16
  bool repeats = false;        // 20 times the same bits, every kind
  bool scales = false;         // 2^7 A B has the bits of A B, 7 exponents up, every kind
  std::size_t shapes = 0;      // that were asked

  static constexpr std::size_t half_probe_length = 64;
};

/// Rows of the bounds that a device fits: least terms and fraction bits of an aligned sum. Every generation's TF32 row
/// has 4 terms. The same as oracle/tolerance/accumulation.cpp; oracle/variants.md.
struct GenerationRow {
  const char* name;
  std::size_t terms;
  int fraction_bits;
};
const std::vector<GenerationRow>& generation_rows();

/// On the host `order` is the order of additions that is asked; one that has no instruction for some operands leaves
/// those sequential. CUDA is asked as `choices` say; they name no algorithm (std::invalid_argument). Throws
/// DeviceAbsent where the device is not there. A product that the device refuses leaves its kind unanswered.
/// With `only`, products of that precision alone are asked, and every other kind stays unanswered.
GemmTraits probe_gemm(Device& on, const GemmOrder& order = {}, const GemmChoices& choices = {},
                      const Precision* only = nullptr);

/// The same of the standing device, asked of a kind at its first call in a process and remembered. A library has some
/// twenty settings and five kinds: all of them at once would take longer than the cases that use a few.
const GemmTraits& probed_gemm(Device& on, const GemmChoices& choices, const Precision& precision);

/// What becomes of subnormal numbers in an atomicAdd of fp32.
struct AtomicTraits {
  bool global_keeps = false, shared_keeps = false;
};
AtomicTraits probe_atomics(Device& on);

/// As people read it: question, answer, and what the bounds take from it.
struct Probe {
  std::string question, answer, consequence;
};
std::vector<Probe> probes_of(const GemmTraits& traits);
std::vector<Probe> probes_of(const AtomicTraits& traits);

/// Entries at the head of a library's list of algorithms for a product of each of a few shapes and formats.
struct ListedAlgorithm {
  std::string product;     // "fp16 64 x 64 x 4096"
  std::int64_t splits;     // parts of k
  std::string reduction;   // where they meet
  std::string arithmetic;  // instructions, accumulator and operands
};
/// Empty on the host, which has no list. Throws CudaError, DeviceAbsent.
std::vector<ListedAlgorithm> listed_algorithms(Device& on);

/// What the kernel of the probe of atomics takes: sums[0] is added to in shared memory, sums[1] in global memory; both
/// begin at 0.
struct AtomicAddArguments {
  float addend;
  float* sums;
};

}  // namespace tally
