#include "properties/studies/sweeps/halved_rate.hpp"

#include <cmath>
#include <cstdio>

namespace tally {
namespace {

std::string printed(const char* format, double number) {
  char text[32];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

}  // namespace

RateOrder order_in_rate(const std::vector<double>& distances) {
  const auto order_at = [&](std::size_t from_last) {
    const std::size_t i = distances.size() - 1 - from_last;
    return std::log2(distances.at(i - 1) / distances.at(i));
  };
  const double fine = order_at(0), coarse = order_at(1), coarser = order_at(2);
  const double reach = 2 * std::abs(coarse - fine) + std::abs(coarser - coarse);
  return {fine, fine - reach, fine + reach};
}

std::string words_of(const RateOrder& order) {
  return printed("%.4f", order.value) + " (" + printed("%.4f", order.low) + " to " + printed("%.4f", order.high) + ")";
}

}  // namespace tally
