// Numbers as decimal strings.
#pragma once

#include <mpfr.h>

#include <optional>
#include <string>

#include "oracle/real/ball.hpp"
#include "oracle/real/real.hpp"

namespace tally::oracle {

/// `x` rounded to `digits` significant digits, without trailing zeros: "0.25", "-65536", "1.5e-12"; "nan", "inf",
/// "-inf"; zeros of either sign are "0".
std::string decimal_text(const Real& x, unsigned digits);
std::string decimal_text(mpfr_srcptr x, unsigned digits);

/// The same of a number in a ball: less than one unit of the last digit from it. Nothing where the ball does not tell
/// so many digits.
std::optional<std::string> decimal_text(const Ball& x, unsigned digits);

/// The same where every number of the ball rounds to it: the text of the number itself, whichever ball holds it.
std::optional<std::string> rounded_text(const Ball& x, unsigned digits);

}  // namespace tally::oracle
