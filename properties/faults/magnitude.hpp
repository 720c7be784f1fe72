// How much of a seeded bug is planted: at 1 it is as it was shipped, at 0 it is not there. A fault's *knob* says what a
// magnitude between them scales:
//
//   value     numbers lie that share of the way from right to wrong: a factor, an argument, what a stage leaves
//   elements  that share of a tensor's elements is wrong, spread evenly
//   rows      that share of the rows is lost, in whole rows
//   steps     that share of the steps is miscounted, in whole steps
//   none      it is there or it is not
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally {

/// The magnitude in this process; 1 unless an AtMagnitude lives.
double magnitude();

/// Plants every fault at this magnitude while it lives. Throws std::invalid_argument outside 0 ... 1.
class AtMagnitude {
 public:
  explicit AtMagnitude(double magnitude);
  ~AtMagnitude();
  AtMagnitude(const AtMagnitude&) = delete;
  AtMagnitude& operator=(const AtMagnitude&) = delete;

 private:
  double before_;
};

/// right + magnitude (wrong - right), in binary64; both ends are exact.
double blend(double right, double wrong);
float blend(float right, float wrong);
/// The same in whole steps, none too many: rows that are left, say.
std::int64_t blend_whole(std::int64_t right, std::int64_t wrong);
/// Whether element i is among those that are wrong.
bool hits(std::size_t i);

}  // namespace tally
