// Bits of the three float formats, converted without any intermediate rounding.
#pragma once

#include <cstdint>

#include "oracle/case/tensor.hpp"

namespace tally {

/// The bits of `value` rounded to nearest even in fp32, fp16 or bf16; too large a value becomes an infinity.
/// Throws std::logic_error for an integer dtype.
std::uint64_t float_bits_of(Dtype dtype, double value);

/// The value those bits stand for, exactly.
double float_value_of(Dtype dtype, std::uint64_t bits);

}  // namespace tally
