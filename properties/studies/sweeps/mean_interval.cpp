#include "properties/studies/sweeps/mean_interval.hpp"

#include <algorithm>
#include <cmath>

#include "properties/studies/wording.hpp"

namespace tally {
namespace {

constexpr double standard_errors = 5;

}  // namespace

MeanInterval mean_interval(const std::vector<double>& drawn) {
  MeanInterval mean;
  const auto n = static_cast<double>(drawn.size());
  double squares = 0;
  for (const double each : drawn) mean.value += each / n;
  for (const double each : drawn) squares += (each - mean.value) * (each - mean.value);
  mean.spread = std::sqrt(squares / (n - 1));
  mean.error = standard_errors * mean.spread / std::sqrt(n);
  return mean;
}

MeanInterval quotient_interval(const std::vector<double>& above, const std::vector<double>& below) {
  const double bottom = mean_interval(below).value, value = mean_interval(above).value / bottom;
  std::vector<double> linear;
  for (std::size_t i = 0; i < above.size(); ++i) linear.push_back(value + (above[i] - value * below.at(i)) / bottom);
  return mean_interval(linear);
}

void Spread::add(double value) {
  low_ = count_ == 0 ? value : std::min(low_, value);
  high_ = count_ == 0 ? value : std::max(high_, value);
  squares_ += value * value;
  ++count_;
}

double Spread::rms() const { return std::sqrt(squares_ / count_); }

std::string listed(const std::vector<double>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ";
    text += three_digits(numbers[i]);
  }
  return text;
}

}  // namespace tally
