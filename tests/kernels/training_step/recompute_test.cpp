// Recomputed activations are the bits that forward left, in whatever order products add.
#include <gtest/gtest.h>

#include "kernels/training_step/run.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally {
namespace {

/// Values that are no short dyadic numbers, so that the order of additions shows.
Case uneven_case() {
  Case c = small_case();
  c.execution.recompute = true;
  for (auto& [name, tensor] : c.tensors) {
    if (tensor.dtype != Dtype::fp32) continue;
    for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, tensor.value(i) / 3 + 1.0 / 7);
  }
  return c;
}

TEST(Recompute, repeats_the_bits_of_forward_in_any_drawn_order) {
  const Case c = uneven_case();
  bool other_bits = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Trace trace = run(c, {.order_seed = seed}), in_order = run(c);
    for (const char* tap : {"w0/m0", "w0/m1", "w1/m0", "w1/m1"}) {
      const std::string at = tap;
      const Tensor* left = trace.find(at + "/forward/in.fc2.x");
      const Tensor* read = trace.find(at + "/backward/in.fc2.x");
      ASSERT_NE(left, nullptr);
      ASSERT_NE(read, nullptr);
      EXPECT_EQ(*left, *read) << at << " under order " << seed;
      other_bits = other_bits || !(*left == *in_order.find(at + "/forward/in.fc2.x"));
    }
  }
  EXPECT_TRUE(other_bits) << "no order left other bits: the test shows nothing";
}

}  // namespace
}  // namespace tally
