// What the bounds assume, and what holds for a subject.
#include <algorithm>
#include <sstream>

#include "oracle/tolerance/declared.hpp"

namespace tally::oracle {
namespace {

std::string in_words(const OrderOfSum& order) {
  std::string words;
  for (const SumStep& step : order) {
    words += (words.empty() ? "" : ", ") + tally::name_of(step.kind);
    if (takes_a_number(step.kind)) words += " " + std::to_string(step.number);
  }
  return words;
}

/// By operation: a number of additions, or the steps.
std::string heights(const Claims& claims) {
  std::string declared;
  for (const auto& [operation, claim] : claims.kernels) {
    if (claim.height <= 0 && claim.additions.empty()) continue;
    declared += (declared.empty() ? "" : "; ") + operation;
    if (claim.height > 0) declared += " " + std::to_string(claim.height);
    if (!claim.additions.empty()) declared += ": " + in_words(claim.additions);
  }
  return declared.empty() ? "none declared: any order, n - 1 additions" : "declared: " + declared + "; else n - 1";
}

std::string atomics(const Claims& claims) {
  std::string users;
  for (const auto& [operation, claim] : claims.kernels) {
    if (claim.global_float_atomics) users += (users.empty() ? "" : ", ") + operation;
  }
  return users.empty() ? "none" : users + ": 2^-125 an addition";
}

/// Behind what is claimed of a GEMM that was asked how it computes (oracle/variants.md): nobody declared it.
std::string source(const Claims& claims) {
  const auto gemm = claims.kernels.find("gemm");
  return gemm != claims.kernels.end() && gemm->second.variant.ends_with("_probed") ? " (probed)" : "";
}

std::string tf32_operands(const Claims& claims) {
  const bool nearest = claims.tf32_rounding == "nearest";
  return nearest ? "TF32: operands to nearest, 2^-11 relative"
                 : "TF32: operands truncated" + std::string(claims.tf32_rounding == "unknown" ? " or rounded" : "") +
                       ", 2^-10 relative";
}

std::string operands(const Claims& claims, const Precision& precision) {
  const bool blocks = claims.tensor_cores && (precision.tf32 || precision.storage != Dtype::fp32);
  const std::string cores = claims.tensor_core == "unknown"
                                ? "tensor cores of any generation: (2.5 k + 2) u"
                                : "tensor cores of " + claims.tensor_core + ": its row of block lengths and bits";
  if (precision.tf32) return tf32_operands(claims) + (blocks ? "; " + cores : "");
  if (blocks) return cores + (precision.compute == Dtype::fp32 ? "" : ", fp16 results rounded a block");
  return std::string(name_of(precision.compute)) + " accumulator, rounded to nearest";
}

std::string claimed(const Claims& claims, const std::string& operation, const std::string& any) {
  const auto found = claims.kernels.find(operation);
  const bool open = found == claims.kernels.end() || found->second.algorithm.empty();
  return open || found->second.algorithm == "any" ? any : found->second.algorithm;
}

std::string splits(const Claims& claims) {
  const auto gemm = claims.kernels.find("gemm");
  if (gemm == claims.kernels.end() || gemm->second.splits == 1) return "none, or added in the accumulator's format";
  const std::string parts = gemm->second.splits == 0 ? "any number of" : std::to_string(gemm->second.splits);
  return parts + " parts added in " + std::string(name_of(gemm->second.reduction));
}

std::string variance(const Claims& claims) {
  const char* any = "undeclared: the largest bound of two-pass, one-pass clamped at 0 and Welford";
  return "batch_norm " + claimed(claims, "batch_norm.statistics", any) + ", layer_norm " +
         claimed(claims, "layer_norm.forward", any) + "; never negative";
}

/// How weight gradients reach the buffer.
std::string weights(const Claims& claims) {
  const bool added = claimed(claims, "linear.weight_gradient", "separate") == "into_buffer";
  return added ? "; of weights by their product, not rounded on the way" : "";
}

/// exp, log, tanh, erf.
std::string functions(const Claims& claims) {
  double worst = 0;
  for (const auto& [operation, claim] : claims.kernels) worst = std::max(worst, claim.function_ulp);
  const std::string undeclared =
      "within 2 ulp of the nearest number: 6u relative, 5/2 of the least subnormal below; a GELU's erf by "
      "Abramowitz and Stegun 7.1.26 in fp32: 6.9e-6 absolute";
  if (worst == 0) return undeclared;
  std::ostringstream claimed;
  claimed << "where claimed within " << worst << " ulp of the exact value: " << 2 * worst << "u relative; else ";
  return claimed.str() + undeclared;
}

std::string roots(const Claims& claims) {
  bool by_function = false;
  for (const auto& [operation, claim] : claims.kernels) by_function = by_function || claim.rsqrt;
  return by_function ? "of a variance by a function within 2 ulp where claimed" : "a quotient by a root where claimed";
}

/// Whose elementwise arithmetic is predicted bit by bit.
std::string predicted(const Claims& claims) {
  std::string operations;
  for (const auto& [operation, claim] : claims.kernels) {
    if (claim.as_written) operations += (operations.empty() ? "" : ", ") + operation;
  }
  return operations.empty() ? "bounded: none is claimed to round as written" : "as written, bit by bit: " + operations;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ledger(const Claims& claims, const Precision& precision) {
  return {
      {"rounding", "to nearest even, gradual underflow, everywhere outside tensor cores"},
      {"flush to zero in GEMM",
       (claims.flushes_subnormals ? "yes: 2^-126 a product and an addition, subnormal operands read as 0" : "no") +
           source(claims)},
      {"order of addition", heights(claims)},
      {"global float atomics", atomics(claims)},
      {"GEMM", operands(claims, precision) + source(claims)},
      {"GEMM split along k", splits(claims)},
      {"GEMM algorithms", "products and additions only: no Winograd, Strassen or FFT"},
      {"storage", std::string(name_of(precision.storage)) + ", one rounding a store"},
      {"gradient buffer", std::string(name_of(precision.accumulate)) + ", " +
                              claimed(claims, "accumulate", "plain: one rounding an addition") + weights(claims)},
      {"master", std::string(name_of(precision.master))},
      {"exp, log, tanh, erf", functions(claims)},
      {"division, square root", "correctly rounded"},
      {"variance", variance(claims)},
      {"1 / square root", roots(claims)},
      {"softmax", claimed(claims, "cross_entropy", "undeclared: the largest bound of all forms")},
      {"constants", claims.constants == "binary64" ? "derived in binary64, rounded once to fp32" : "derived in fp32"},
      {"factor", claims.factor == "fp32_twice" ? "divided by K and by n in fp32"
                 : claims.factor == "fp32"     ? "divided once in fp32"
                                               : "divided in binary64, rounded once to fp32"},
      {"divisor", claims.divide == "window" ? "enters at the window's end" : "enters in each micro-batch's factor"},
      {"decisions", "ReLU masks and skips of the trace, where the interval leaves them open"},
      {"elementwise", predicted(claims)},
      {"statistical lens",
       "errors of a sum's additions are mean-zero given those before them, of addends a quarter of an ulp of it apart; "
       "all other errors count at their worst; nothing of the bounds rests on it"},
      {"oracle", "long double values (2^-64), bounds in binary64; both paid for by factors in every bound"},
  };
}

}  // namespace tally::oracle
