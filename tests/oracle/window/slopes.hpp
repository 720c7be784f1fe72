// The exact gradient of a case's first window against slopes of its loss: no formula of the derivative is asked.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "oracle/exact/trajectory.hpp"

namespace tally::oracle {

inline WindowAnswer<long double> first_window_of(const Case& c, Branch branch = Branch::accumulated) {
  return evaluate_window<long double>(c, 0, branch, initial_state<long double>(c));
}

/// Every element of these parameters. A difference over 2 h is off by h² f'''/6: less than h of the largest gradient.
inline void expect_slopes(Case c, const std::vector<std::string>& parameters) {
  constexpr double step = 0x1p-12;
  ASSERT_FALSE(parameters.empty());
  const WindowAnswer<long double> answer = first_window_of(c);
  for (const std::string& parameter : parameters) {
    const Matrix<long double>& gradient = answer.grad.at(parameter);
    const long double largest = gradient.cwiseAbs().maxCoeff();
    for (std::size_t i = 0; i < c.tensors.at(parameter).elements(); ++i) {
      const double at = c.tensors.at(parameter).value(i);
      const double above = static_cast<float>(at + step), below = static_cast<float>(at - step);
      const auto loss_at = [&](double value) {
        c.tensors.at(parameter).set(i, value);
        return first_window_of(c).loss;
      };
      const long double difference = (loss_at(above) - loss_at(below)) / (above - below);
      c.tensors.at(parameter).set(i, at);
      EXPECT_LE(std::fabs(difference - gradient.data()[i]), step * largest) << parameter << " " << i;
    }
  }
}

}  // namespace tally::oracle
