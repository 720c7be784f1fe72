// What a subject declares about how it computes. oracle/tolerance derives every bound from this and from nothing else.
// Plain data: kernels fill it in, traces carry it as JSON in their metadata. Defined in claim.cpp, order_of_sum.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

// In which order a kernel adds numbers, as data that a claim carries: steps from the first additions to the last. What
// counts is how many additions an addend passes through, for every number of addends; adding to nothing is no addition.

/// One step, of n partial sums that are left so far (at first the addends):
///   in_order_below m   fewer than m are added one after another from the first, and later steps find one sum; m or
///                      more stay
///   runs c             neighbours, c at a time, one after another from the first: ceil(n/c) are left
///   lanes l            l sums side by side, lane j adding j, j + l, ... one after another: min(n, l) are left
///   tree               in pairs, whichever, ceil(log2 n) levels: one is left
///   chunks c           only as the first step: every tensor is cut into chunks of c addends, the last one shorter; the
///                      steps up to `meet` are taken inside of each chunk
///   meet               what the chunks of all tensors came to are the partial sums of the steps that follow
/// What is left after the last step, or inside of a chunk at `meet`, may be added in any order.
struct SumStep {
  enum Kind { in_order_below, runs, lanes, tree, chunks, meet };
  Kind kind;
  std::int64_t number = 0;  // m, c or l
  friend bool operator==(const SumStep&, const SumStep&) = default;
};
using OrderOfSum = std::vector<SumStep>;

/// "in_order_below", "tree" and so on.
std::string name_of(SumStep::Kind kind);
/// Whether a number belongs to this step.
bool takes_a_number(SumStep::Kind kind);

/// What makes these steps no order; empty: nothing. A rule for every order above.
std::string wrong_with(const OrderOfSum& order);

/// The largest number of additions that one of `addends` passes through: of one sum, and of the sum over tensors of
/// these sizes. An order without steps is any order: n - 1. Throws std::logic_error for steps that are no order.
double additions_of(const OrderOfSum& order, double addends);
double additions_of(const OrderOfSum& order, const std::vector<double>& tensors);

enum class Repeats { bitwise, within_claim };

/// One kernel's promise. Orders of addition are given as the height of the addition tree, a number (0 means any order,
/// n - 1) or what follows for n addends from the steps of `additions`; of both, the smaller one holds.
/// Algorithms that the bounds tell apart, by operation; "" and "any" take the largest bound of the family:
///   batch_norm.statistics, layer_norm.forward    two_pass | one_pass (clamped at 0) | welford (height counts merges)
///   cross_entropy                                three_pass | online | lse | online_lse
///   attention.*, rotary.*                        as oracle/variants.md says
///   gemm                                         in_order_fma (its bits are known)
///   accumulate                                   plain ("" too: its bits are predicted) | native | kahan
struct KernelClaim {
  std::string variant;  // named after its algorithm
  Repeats repeats = Repeats::bitwise;
  std::int64_t height = 0;            // largest number of additions an addend passes through; 0: undeclared, n - 1
  std::string algorithm = {};         // of a family the bounds tell apart, above
  bool global_float_atomics = false;  // fp32 atomicAdd on global memory: flushes subnormals
  Dtype result = Dtype::fp32;         // where a GEMM rounds before its bias is added
  bool rsqrt = false;                 // 1 / sqrt by a function within 2 ulp instead of a quotient by a root
  std::int64_t splits = 1;  // parts of k a GEMM sums apart (0: undeclared); blocks of an online softmax (0, 1: too)
  Dtype reduction = Dtype::fp32;  // where a GEMM adds its parts
  OrderOfSum additions = {};      // of every sum of the kernel, step by step; empty: any order
  double function_ulp = 0;        // exp, log, tanh, erf are that near to the exact value; 0: undeclared, foreign ones
  bool as_written = false;  // elementwise arithmetic in fp32, operation by operation as kernels/arithmetic.md writes it
};

/// A subject's promises for a whole run; the metadata entry `claims` of a trace.
struct Claims {
  std::string subject = "host";                // "host", "cuda", "checked"
  std::map<std::string, KernelClaim> kernels;  // by operation, e.g. "gemm", "batch_norm.forward", "norm"
  std::string constants = "binary64";          // how recipe constants are derived: "binary64" | "fp32"
  std::string divide = "micro_batch";          // where the divisor enters: "micro_batch" | "window"
  std::string factor = "binary64";             // its rounding: "binary64" | "fp32" | "fp32_twice" (by K, then by n)
  bool flushes_subnormals = false;             // GEMM
  bool tensor_cores = false;                   // GEMM
  std::string tensor_core = "unknown";         // every GEMM's: "v100" | "a100" | "h100" | "h200" | "b200" | "unknown"
  std::string tf32_rounding = "unknown";       // of TF32 operands: "truncate" | "nearest" | "unknown"
};

std::string to_json(const Claims& claims);
/// Throws std::runtime_error naming the key.
Claims claims_of_json(const std::string& json);

}  // namespace tally
