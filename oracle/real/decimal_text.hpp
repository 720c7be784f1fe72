// A Real as a decimal string.
#pragma once

#include <string>

#include "oracle/real/real.hpp"

namespace tally::oracle {

/// `x` rounded to `digits` significant digits, without trailing zeros: "0.25", "-65536", "1.5e-12"; "nan", "inf",
/// "-inf"; zeros of either sign are "0".
std::string decimal_text(const Real& x, unsigned digits);

}  // namespace tally::oracle
