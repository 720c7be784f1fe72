// Recomputed activations are the bits that forward left, in whatever order products add.
#include <gtest/gtest.h>

#include "kernels/training_step/run/run.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "kernels/training_step/stages.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::recompute_test {
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

TEST(Recompute, RepeatsTheBitsOfForwardInAnyDrawnOrder) {
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

void must_not_run(Run&, LayerState& layer, int) { FAIL() << layer.label << " runs again"; }

/// The forward pass as shipped, in which the layers that are kept fail when they run again.
void only_named(Run& run) {
  static const LayerSteps fails{must_not_run, nullptr};
  std::vector<const LayerSteps*> steps;
  for (LayerState& layer : run.layers) {
    steps.push_back(layer.steps);
    if (run.recomputing && !layer.recomputed) layer.steps = &fails;
  }
  stage::forward(run);
  for (std::size_t i = 0; i < steps.size(); ++i) run.layers[i].steps = steps[i];
}

TEST(Recompute, RunsTheNamedLayersAloneAgain) {
  Case kept = uneven_case();
  kept.execution.recompute = false;
  const Trace expected = run(kept, {.order_seed = 3});
  ASSERT_FALSE(expected.taps().empty());
  Stages stages = shipped_stages();
  stages.forward = only_named;
  for (std::size_t i = 0; i < kept.model.layers.size(); ++i) {
    Case some = uneven_case();
    some.execution.recomputed = {label_of(some.model, i)};
    const Trace trace = run(some, {.order_seed = 3, .stages = &stages});
    for (const Tap& tap : expected.taps())
      EXPECT_EQ(*trace.find(tap.name.text()), tap.value) << tap.name.text() << ", again: " << label_of(some.model, i);
  }
}

}  // namespace
}  // namespace tally::recompute_test
