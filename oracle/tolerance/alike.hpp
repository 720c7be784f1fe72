// Which addends of a sum round alike. The error of adding x to a partial sum S follows from x modulo the ulp of the
// result, because S lies on that grid: equal addends err equally, and so do addends within a small part of an ulp of
// each other. What errs alike may not be counted as drawn anew (oracle/spread.md, "Sums").
#pragma once

#include <vector>

namespace tally::oracle {

/// f(first, past the last) of each run of sorted values within `cell`; of all of them where the cell is not a number.
template <class F>
void each_run(const std::vector<double>& sorted, double cell, F&& f) {
  for (std::size_t first = 0, i = 0; i < sorted.size(); first = i) {
    do ++i;
    while (i < sorted.size() && !(sorted[i] - sorted[first] > cell));
    f(first, i);
  }
}

/// The magnitudes of the finite ones but zeros, which err nothing, sorted.
std::vector<double> sorted_magnitudes(std::vector<double> x);

/// The mean, over the addends, of how many of them lie within `cell` of each other. At least 1.
double alike(std::vector<double> addends, double cell);

/// A quarter of an ulp of a sum of that magnitude.
inline double quarter_ulp(double unit_roundoff, double magnitude) { return unit_roundoff / 2 * magnitude; }

}  // namespace tally::oracle
