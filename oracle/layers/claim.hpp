// What a subject declares about how it computes. oracle/tolerance derives every bound from this and from nothing else.
// Plain data: kernels fill it in, traces carry it as JSON in their metadata.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "oracle/case/tensor.hpp"

namespace tally {

enum class Repeats { bitwise, within_claim };

/// One kernel's promise. Orders of addition are given as the height of the addition tree: 0 means any order (n - 1).
struct KernelClaim {
  std::string variant;  // named after its algorithm
  Repeats repeats = Repeats::bitwise;
  std::int64_t height = 0;            // largest number of additions an addend passes through; 0: undeclared, n - 1
  std::string algorithm = {};         // of a family the bounds tell apart: "two_pass", "one_pass", "welford", ""
  bool global_float_atomics = false;  // fp32 atomicAdd on global memory: flushes subnormals
  Dtype result = Dtype::fp32;         // where a GEMM rounds before its bias is added
};

/// A subject's promises for a whole run; the metadata entry `claims` of a trace.
struct Claims {
  std::string subject = "host";                // "host", "cuda"
  std::map<std::string, KernelClaim> kernels;  // by operation, e.g. "gemm", "batch_norm.forward", "norm"
  std::string constants = "binary64";          // how recipe constants are derived: "binary64" | "fp32"
  std::string divide = "micro_batch";          // where the divisor enters: "micro_batch" | "window"
  bool flushes_subnormals = false;             // GEMM
  bool tensor_cores = false;                   // GEMM
};

std::string to_json(const Claims& claims);
/// Throws std::runtime_error naming the key.
Claims claims_of_json(const std::string& json);

}  // namespace tally
