#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/training_step/run/run.hpp"
#include "kernels/training_step/stages.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::follow_test {
namespace {

Case wide_case() {
  Case c = small_case();
  c.model.input = 40;
  fill_tensors(c);
  Tensor& x = c.tensors.at("x");
  for (std::size_t i = 0; i < x.elements(); ++i) x.set(i, 1.0 / static_cast<double>(i % 41 + 3));
  return c;
}

/// The taps that differ in bits, each without its window and micro-batch: "forward/fc1.y".
std::set<std::string> differing(const Trace& a, const Trace& b) {
  std::set<std::string> found;
  for (const Tap& tap : a.taps()) {
    const Tensor* other = b.find(tap.name.text());
    if (other == nullptr || other->bytes != tap.value.bytes) found.insert(tap.name.stage + "/" + tap.name.tensor);
  }
  return found;
}

bool is_of_a_product(const std::string& tap) {
  const bool linear = tap.starts_with("forward/fc") || tap.starts_with("backward/d.fc");
  return linear && !tap.ends_with(".bias");
}

TEST(Follow, StartsEveryStageFromTheOtherRunsBits) {
  const Case c = wide_case();
  const Trace followed = run(c, {.order_seed = 3});
  const std::set<std::string> alone = differing(followed, run(c)),
                              found = differing(followed, run(c, {.follow = &followed}));
  const auto later =
      std::find_if(alone.begin(), alone.end(), [](const std::string& tap) { return !is_of_a_product(tap); });
  EXPECT_TRUE(later != alone.end());             // what the first product left goes through the whole window
  EXPECT_TRUE(found.contains("forward/fc1.y"));  // and its own stage alone shows it
  for (const std::string& tap : found) EXPECT_TRUE(is_of_a_product(tap)) << tap;
}

TEST(Follow, LeavesARunOfItsOwnAsItWas) {
  Case c = wide_case();
  for (const bool recompute : {false, true}) {
    c.execution.recompute = recompute;
    const Trace followed = run(c);
    EXPECT_EQ(differing(followed, run(c, {.follow = &followed})), std::set<std::string>{});
  }
}

TEST(Follow, ShowsTheStageThatErrsAndNoLaterOne) {
  Stages faulty = shipped_stages();
  faulty.unscale = [](tally::Run& run) {
    run.inverse_scale.set_scalar(2 * run.inverse_scale.scalar<float>());
    stage::unscale(run);
  };
  const Case c = wide_case();
  const Trace followed = run(c), trace = run(c, {.stages = &faulty, .follow = &followed});
  for (const std::string& tap : differing(followed, trace)) EXPECT_TRUE(tap.starts_with("unscale/")) << tap;
  EXPECT_FALSE(differing(followed, trace).empty());
}

}  // namespace
}  // namespace tally::follow_test
