// Bits that another order of additions left: a failure of class `order` where a claim fixes it, none where it is free.
#include <set>

#include "properties/faults/fault.hpp"
#include "properties/laws/law.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::order_test {
namespace {

/// Micro-batches of `rows` rows.
Case with_rows_of(std::int64_t rows, unsigned seed) {
  Case c = mlp(seed);
  c.windows = {{rows, rows}};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, seed);
  return c;
}

Trace reversed(const Case& c) {
  RunOptions options;
  options.stages = &find_fault("bias-gradient-reversed")->stages();
  return run(c, options);
}

TEST(OrderClass, IsWhatAReversedSumFailsWith) {
  for (const std::int64_t rows : {7, 63, 64, 97}) {
    const Case c = with_rows_of(rows, 3);
    const auto checks = local_lens(c, reversed(c));
    const TensorCheck* failure = first_failure(checks);
    ASSERT_NE(failure, nullptr) << rows;
    EXPECT_EQ(failure->failure, FailureClass::order) << rows;
    EXPECT_EQ(failure->over_bound, 0u) << rows;
    EXPECT_TRUE(failure->tap.ends_with("bias")) << failure->tap;
  }
}

TEST(OrderClass, IsNeverClaimedOfTheShippedKernel) {
  for (const std::int64_t rows : {1, 7, 63, 64, 97}) {
    for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
      Case c = with_rows_of(rows, 4);
      c.precision.storage = storage;
      c.tensors.clear();
      fill_tensors(c);
      draw_normal(c, 4);
      for (const std::uint64_t schedule : {0, 1, 2}) {
        RunOptions options;
        options.schedule_seed = schedule;
        const auto checks = local_lens(c, run(c, options));
        EXPECT_EQ(first_failure(checks), nullptr) << rows << " " << told(first_failure(checks));
      }
    }
  }
}

TEST(OrderClass, IsNotClaimedWhereTheOrderIsFree) {
  const Case c = with_rows_of(64, 3);
  Trace trace = reversed(c);
  trace.claims.kernels.at("linear.bias_gradient").algorithm.clear();
  EXPECT_EQ(first_failure(local_lens(c, trace)), nullptr);
}

TEST(OrderClass, LeavesAWrongSumToLogic) {
  const Case c = with_rows_of(64, 3);
  RunOptions options;
  options.stages = &find_fault("lost-atomic-add")->stages();
  Trace trace = run(c, options);
  trace.claims.kernels.at("linear.bias_gradient").algorithm = "column_lanes";
  const auto checks = local_lens(c, trace);
  ASSERT_NE(first_failure(checks), nullptr);
  EXPECT_EQ(first_failure(checks)->failure, FailureClass::logic);
}

/// The trace of products whose order was drawn, which says that none was.
Trace labelled_in_order(const Case& c) {
  RunOptions options;
  options.order_seed = 5;
  Trace drawn = run(c, options);
  KernelClaim& gemm = drawn.claims.kernels.at("gemm");
  EXPECT_EQ(gemm.algorithm, "");
  gemm.algorithm = "in_order_fma";
  return drawn;
}

TEST(OrderClass, IsWhatProductsInAnotherOrderThanClaimedFailWith) {
  const Case c = with_rows_of(64, 3);
  const Trace in_order = run(c);
  ASSERT_EQ(in_order.claims.kernels.at("gemm").algorithm, "in_order_fma");
  EXPECT_EQ(first_failure(local_lens(c, in_order)), nullptr);
  std::set<std::string> stages;
  for (const TensorCheck& check : local_lens(c, labelled_in_order(c))) {
    if (check.status != Status::fail) continue;
    EXPECT_EQ(check.failure, FailureClass::order) << check.tap;
    stages.insert(check.stage);
  }
  EXPECT_EQ(stages, (std::set<std::string>{"forward", "backward"}));
}

TEST(OrderClass, IsNotPromisedByProductsThatAreReplaced) {
  const Case c = with_rows_of(64, 3);
  RunOptions options;
  options.stages = &find_fault("products-in-two-parts")->stages();
  EXPECT_EQ(run(c, options).claims.kernels.at("gemm").algorithm, "");
}

}  // namespace
}  // namespace tally::order_test
