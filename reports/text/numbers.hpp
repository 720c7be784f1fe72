// Numbers as people read them; the same on every machine and in every locale.
#pragma once

#include <cstdint>
#include <string>

namespace tally {

std::string grouped(std::uint64_t value);              // 5,184
std::string counted(std::uint64_t n, const char* of);  // "1 case", "5,184 cases"
/// Three digits: 0.413, 1.23e-07, inf, nan. What is not 1 never reads as 1, the limit of every ratio: more digits are
/// shown, up to 0.999999 and 1.000001 for all that is nearer.
std::string significant(double value);
/// The power of ten of a decimal logarithm: "1e-3.9", and "< 1e-1000" for all below.
std::string power_of_ten(double log10);
std::string shortest(double value);          // reads back to the same bits
std::string hexadecimal_text(double value);  // 0x1.8p-3
std::string percent(double share);           // 0.9712 -> 97.12 %
std::string coordinate(double value);        // one decimal, for drawings

}  // namespace tally
