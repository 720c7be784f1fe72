// Bits of floating-point formats, converted without any intermediate rounding.
#pragma once

#include <cstdint>

#include "oracle/case/formats.hpp"

namespace tally {

/// The bits of `value` rounded to nearest even, subnormal numbers included; of too large a value and of an infinity
/// what the format's row says.
std::uint64_t float_bits_of(const FormatRow& row, double value);
/// The same of a Dtype. Throws std::logic_error for an integer.
std::uint64_t float_bits_of(Dtype dtype, double value);

/// The value those bits stand for, exactly.
double float_value_of(const FormatRow& row, std::uint64_t bits);
/// The same of a Dtype. Throws std::logic_error for an integer.
double float_value_of(Dtype dtype, std::uint64_t bits);

}  // namespace tally
