#include "properties/diagnosis/evidence.hpp"

#include <gtest/gtest.h>

#include "kernels/training_step/run.hpp"
#include "properties/compare/lens.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally {
namespace {

/// A step that works on other rows than the case gives a micro-batch leaves taps of other shapes: no formula may read
/// past their ends.
TEST(Evidence, PassesOverATapOfAnotherShape) {
  const Case c = small_case();  // micro-batches of 2 and 3 rows
  const Trace right = run(c);
  Trace wrong;
  wrong.claims = right.claims;
  wrong.case_hash = right.case_hash;
  for (const Tap& tap : right.taps()) {
    const bool gradient = tap.name.text() == "w0/m1/backward/in.d.relu#1.y";
    wrong.add(tap.name, gradient ? *right.find("w0/m0/backward/in.d.relu#1.y") : tap.value);
  }
  const TensorCheck none;
  const Evidence evidence(c, wrong, none);
  EXPECT_FALSE(evidence.tap(0, 1, "backward", "in.d.relu#1.y"));
  EXPECT_TRUE(evidence.tap(0, 0, "backward", "in.d.relu#1.y"));
  EXPECT_TRUE(evidence.tap(0, 1, "backward", "in.relu#1.x"));
  EXPECT_FALSE(evidence.tap(0, 1, "backward", "in.nothing.x"));
}

}  // namespace
}  // namespace tally
