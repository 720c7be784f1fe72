// A run with nothing wrong, under both lenses.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "properties/judge/groups.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally {

/// It passes, nothing is left out, and the local lens looks at every tap.
inline void expect_clean(const Case& c, const RunOptions& options, const std::string& what) {
  const Trace trace = run(c, options);
  const auto checks = hard_lenses(c, trace, Grouping::declared).checks;
  EXPECT_EQ(first_failure(checks), nullptr) << what << " " << told(first_failure(checks));
  EXPECT_EQ(count(checks, Status::not_run), 0u) << what << " " << missing(checks);
  std::set<std::string> seen;
  for (const TensorCheck& check : checks)
    if (check.lens == "local") seen.insert(check.tap);
  EXPECT_FALSE(trace.taps().empty()) << what;
  for (const Tap& tap : trace.taps()) EXPECT_TRUE(seen.contains(tap.name.text())) << what << " " << tap.name.text();
}

}  // namespace tally
