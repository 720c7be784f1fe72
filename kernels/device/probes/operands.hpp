// What a product does to its operands, its accumulator and its bits from call to call.
#pragma once

#include <string>

#include "kernels/device/probes/products.hpp"

namespace tally {

/// What becomes of fp32 operands: "nearest" | "truncate" (to TF32) | "none", of both operands, or "unknown": 1 + 2^-11
/// + 2^-20 lies just above half way between two TF32 numbers; nearest goes up, truncation down, fp32 keeps it.
std::string operand_rounding(ProbeProducts& products, const ProductKind& kind, const ProbeShape& shape);

/// What holds of both answers: where some operands stay and others are rounded to nearest, all are within a rounding to
/// nearest; truncated and other operands share nothing.
std::string loosest_rounding(const std::string& one, const std::string& other);

/// GemmTraits::half_group: 2048 and k - 1 times 2^-j with a fp16 accumulator, whose next number is 2050. It stays 2048
/// while the addends that meet before a rounding make no more than 1. k is GemmTraits::half_probe_length.
std::size_t half_group(ProbeProducts& products);

/// The same bits 20 times, of drawn numbers.
bool repeats(ProbeProducts& products, const ProductKind& kind, const ProbeShape& shape);

/// 2^7 A B has the bits of A B, 7 exponents up.
bool scales(ProbeProducts& products, const ProductKind& kind, const ProbeShape& shape);

}  // namespace tally
