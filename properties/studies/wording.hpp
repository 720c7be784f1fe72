// Numbers in the sentences of an answer.
#pragma once

#include <string>

#include "properties/studies/fit.hpp"

namespace tally {

std::string three_digits(double value);       // "0.413", "1.23e-07"
std::string exponent_text(const Fit& fit);    // "0.50 (95 %: 0.48 to 0.52)"
std::string power_of_two_text(double value);  // "2^20" where it is one, else three_digits()

}  // namespace tally
