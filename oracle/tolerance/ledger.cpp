#include "oracle/tolerance/ledger.hpp"

namespace tally::oracle {
namespace {

std::string heights(const Claims& claims) {
  std::string declared;
  for (const auto& [operation, claim] : claims.kernels) {
    if (claim.height > 0) declared += (declared.empty() ? "" : ", ") + operation + " " + std::to_string(claim.height);
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

std::string operands(const Claims& claims, const Precision& precision) {
  if (precision.tf32) return "TF32: operands truncated, 2^-10 relative";
  if (claims.tensor_cores && precision.storage != Dtype::fp32) return "tensor cores of any generation: (2.5 k + 2) u";
  return std::string(name_of(precision.compute)) + " accumulator, rounded to nearest";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ledger(const Claims& claims, const Precision& precision) {
  return {
      {"rounding", "to nearest even, gradual underflow, everywhere outside tensor cores"},
      {"flush to zero in GEMM", claims.flushes_subnormals ? "yes: 2^-126 an operation" : "no"},
      {"order of addition", heights(claims)},
      {"global float atomics", atomics(claims)},
      {"GEMM", operands(claims, precision)},
      {"GEMM algorithms", "products and additions only: no Winograd, Strassen or FFT"},
      {"storage", std::string(name_of(precision.storage)) + ", one rounding a store"},
      {"gradient buffer", std::string(name_of(precision.accumulate)) + ", one rounding an addition"},
      {"master", std::string(name_of(precision.master))},
      {"exp, log, tanh, erf", "within 2 ulp of the exact value: (2k+2) u relative, 5/2 of the least subnormal below"},
      {"division, square root", "correctly rounded"},
      {"variance", "two passes"},
      {"constants", claims.constants == "binary64" ? "derived in binary64, rounded once to fp32" : "derived in fp32"},
      {"divisor", claims.divide == "window" ? "enters at the window's end" : "enters in each micro-batch's factor"},
      {"decisions", "ReLU masks and skips of the trace, where the interval leaves them open"},
      {"statistical lens",
       "rounding errors to nearest are mean-zero given those before them; nothing of the bounds rests on it"},
      {"oracle", "long double values (2^-64), bounds in binary64; both paid for by factors in every bound"},
  };
}

}  // namespace tally::oracle
