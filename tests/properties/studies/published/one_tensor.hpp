// One tensor held against a published rule.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "properties/lab/published/rule.hpp"

namespace tally {

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline bool accepts(const std::string& rule, Dtype storage, ComparedTensor tensor) {
  const PublishedRule* found = find_rule(rule);
  if (!found) {
    ADD_FAILURE() << "no rule is named " << rule;
    return false;
  }
  return found->accepts({storage, {std::move(tensor)}});
}

inline ComparedTensor tensor_of(std::vector<double> got, std::vector<double> reference) {
  return {"w0/unscale/d.fc1.weight", std::move(got), std::move(reference), {}, std::nullopt};
}

/// The largest number whose distance to `reference`, as a double, is at most `allowed`.
inline double last_within(double reference, double allowed) {
  double at = std::nextafter(reference + allowed, infinite);
  while (at - reference > allowed) at = std::nextafter(at, -infinite);
  return at;
}

/// Accepts the last number within `allowed` of `reference` and rejects the next, on both sides.
inline void expect_border(const std::string& rule, Dtype storage, double reference, double allowed) {
  const double last = last_within(reference, allowed), beyond = std::nextafter(last, infinite);
  EXPECT_TRUE(accepts(rule, storage, tensor_of({last}, {reference}))) << rule << " at " << reference;
  EXPECT_FALSE(accepts(rule, storage, tensor_of({beyond}, {reference}))) << rule << " at " << reference;
  EXPECT_TRUE(accepts(rule, storage, tensor_of({-last}, {-reference}))) << rule << " at " << -reference;
  EXPECT_FALSE(accepts(rule, storage, tensor_of({-beyond}, {-reference}))) << rule << " at " << -reference;
}

}  // namespace tally
