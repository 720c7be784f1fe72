// One axis of a study's plot: where a value lies on it, and what is written beside it.
#pragma once

#include <string>
#include <vector>

namespace tally {

class Axis {
 public:
  struct Tick {
    double share;  // 0..1 along the axis
    std::string text;
  };

  /// Holds all `values`. A logarithmic axis counts in powers of two where every value is one (labelled 2^k), else in
  /// powers of ten; what is zero or negative lies in a lane at its low end, and what is infinite in one at its high
  /// end. NaN has no place.
  Axis(const std::vector<double>& values, bool logarithmic);

  double share(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void span(const std::vector<double>& finite);
  void lanes(const std::vector<double>& values);
  void logarithmic_ticks();
  void linear_ticks();
  void add_tick(double value, const std::string& text);

  bool logarithmic_, powers_of_two_ = false;
  double low_ = 0, high_ = 1;              // logarithms on a logarithmic axis
  double low_share_ = 0, high_share_ = 1;  // inside the lanes
  bool low_lane_ = false, high_lane_ = false;
  std::vector<Tick> ticks_;
};

/// "2⁷" for base 2 and exponent 7; "1" for exponent 0.
std::string power_text(int base, int exponent);

}  // namespace tally
