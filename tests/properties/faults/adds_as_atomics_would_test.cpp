// A legal order of additions passes because its kernel claims none, not because nobody looks.
#include <algorithm>

#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/judge/lens.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::adds_as_atomics_would_test {
namespace {

/// Two micro-batches of many rows, so that their order matters to the bits.
Case of_many_rows() {
  Case c = mlp(3);
  c.windows = {{31, 31}};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);
  return c;
}

Trace added_as_atomics_would(const Case& c) {
  const auto all = equivalent_mutants();
  const auto found =
      std::find_if(all.begin(), all.end(), [](const auto* each) { return each->name == "adds-as-atomics-would"; });
  RunOptions options;
  options.stages = &(*found)->stages();
  return run(c, options);
}

TEST(AddsAsAtomicsWould, ClaimsNoOrderAndPasses) {
  const Case c = of_many_rows();
  const Trace trace = added_as_atomics_would(c);
  EXPECT_EQ(trace.claims.kernels.at("linear.bias_gradient").algorithm, "any");
  const auto checks = local_lens(c, trace);
  EXPECT_EQ(first_failure(checks), nullptr) << told(first_failure(checks));
}

TEST(AddsAsAtomicsWould, IsFlaggedWhereItClaimsTheShippedOrder) {
  const Case c = of_many_rows();
  Trace trace = added_as_atomics_would(c);
  trace.claims.kernels.at("linear.bias_gradient").algorithm = "column_lanes";
  const auto checks = local_lens(c, trace);
  ASSERT_NE(first_failure(checks), nullptr);
  EXPECT_EQ(first_failure(checks)->failure, FailureClass::order);
}

}  // namespace
}  // namespace tally::adds_as_atomics_would_test
