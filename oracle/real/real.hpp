// Numbers of any number of digits, a precision that ends with its block, and numbers as decimal strings. Pulls in
// Boost. Defined in decimal_text.cpp, number.cpp.
#pragma once

#include <mpfr.h>

#include <Eigen/Core>
#include <boost/multiprecision/eigen.hpp>
#include <boost/multiprecision/mpfr.hpp>
#include <optional>
#include <string>

#include "oracle/real/ball.hpp"

namespace tally::oracle {

// The oracle's arbitrary-precision scalar. Only oracle/ sources that compute include this file: it pulls in Boost.

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<0>, boost::multiprecision::et_off>;

/// Decimal precision of every Real made from now on, in this process. Values made before keep theirs, so evaluate a
/// case wholly under one setting.
void set_digits(unsigned digits);
unsigned digits();

// A precision that ends with the block.

/// Restores the precision of before when it goes.
class DigitsScope {
 public:
  explicit DigitsScope(unsigned now) : before_(digits()) { set_digits(now); }
  ~DigitsScope() { set_digits(before_); }
  DigitsScope(const DigitsScope&) = delete;
  DigitsScope& operator=(const DigitsScope&) = delete;

 private:
  unsigned before_;
};

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
