// A norm's statistics against the bound of the algorithm that its kernel claims.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/device/kernel_registry.hpp"
#include "oracle/tolerance/moments.hpp"

namespace tally {

inline void expect_within(const oracle::Bounded& expected, double got, const std::string& what) {
  EXPECT_LE(std::fabs(got - expected.v), expected.e) << what << ": " << got << ", expected " << expected.v;
}

/// `var` nullptr: the kernel keeps none.
inline void expect_moments(const char* operation, const std::string& variant, const std::vector<double>& x, double eps,
                           double mean, const double* var, double rstd) {
  const Claims claims;
  const oracle::Declared declared = oracle::declared({}, claims);
  std::vector<oracle::Bounded> sample;
  for (const double value : x) sample.push_back({value, 0});
  const KernelClaim& claim = find_kernel(operation, ExecutorKind::host, variant).claim;
  const oracle::Moments expected = oracle::sample_moments(declared, claim, sample, {eps, 0});
  const std::string where = " of " + std::to_string(x.size()) + " values by " + variant;
  expect_within(expected.mean, mean, "mean" + where);
  if (var != nullptr) expect_within(expected.var, *var, "variance" + where);
  expect_within(expected.rstd, rstd, "rstd" + where);
}

}  // namespace tally
