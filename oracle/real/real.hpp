// The oracle's arbitrary-precision scalar. Only oracle/ sources that compute include this file: it pulls in Boost.
#pragma once

#include <Eigen/Core>
#include <boost/multiprecision/eigen.hpp>
#include <boost/multiprecision/mpfr.hpp>

namespace tally::oracle {

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<0>, boost::multiprecision::et_off>;

/// Decimal precision of every Real made from now on, in this process. Values made before keep theirs, so evaluate a
/// case wholly under one setting.
void set_digits(unsigned digits);
unsigned digits();

}  // namespace tally::oracle
