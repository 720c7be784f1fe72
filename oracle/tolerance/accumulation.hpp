// What the additions of a GEMM cost: |accumulated - sum a b| <= kappa sum |a||b| + absolute, by the path that a subject
// declares. Derivations: oracle/variants.md, "Accumulation in a GEMM".
#pragma once

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// One block FMA of a generation of tensor cores: `terms` products and the accumulator, each truncated to
/// `fraction_bits` below the largest exponent, summed exactly, rounded once (fp32: toward zero; fp16: to nearest).
struct TensorCore {
  double terms, fraction_bits;
};

/// The row of a generation; where several instruction shapes exist, the fewest terms. Throws std::logic_error for a
/// generation without a row. "unknown" has the widest of all.
TensorCore tensor_core(const std::string& generation, bool tf32);

/// True where the subject's GEMMs may run on tensor cores.
bool on_tensor_cores(const Declared& declared);

struct Accumulation {
  double kappa, absolute, threshold;
  // The random part of kappa: additions rounded to nearest, and half of what known tensor cores truncate
  // (oracle/spread.md).
  double random = 0;
  double spread = 0;  // variance proxy per squared magnitude, of addends none of which are alike
};

/// Over k products; with `onto` the old result is one addend more (beta = 1).
Accumulation accumulation(const Declared& declared, double k, bool onto = false);

/// Relative rounding of one TF32 operand: 2^-10 truncated or unknown, 2^-11 to nearest.
double tf32_roundoff(const Claims& claims);

}  // namespace tally::oracle
