// A step that is offloaded: the same bits, and its tensors in the host's memory.
#include "kernels/training_step/offload.hpp"

#include <gtest/gtest.h>

#include "kernels/training_step/run/cost.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::offload_test {
namespace {

Case offloaded_case(bool offload) {
  Case c = small_case();
  c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}});
  return with_rank_option(c, "offload", offload);
}

TEST(Offload, LeavesEveryTapAsItIsWithout) {
  const Trace there = run(offloaded_case(true)), here = run(offloaded_case(false));

  ASSERT_EQ(there.taps().size(), here.taps().size());
  for (std::size_t i = 0; i < here.taps().size(); ++i) {
    EXPECT_EQ(there.taps()[i].name.text(), here.taps()[i].name.text());
    EXPECT_TRUE(there.taps()[i].value == here.taps()[i].value) << here.taps()[i].name.text();
  }
  EXPECT_TRUE(there.violations.empty());
}

TEST(Offload, HasTheStateAtTheEndWhereNothingIsTapped) {
  RunOptions untapped;
  untapped.taps = false;

  const Trace there = run(offloaded_case(true), untapped), here = run(offloaded_case(false), untapped);

  ASSERT_EQ(there.taps().size(), here.taps().size());
  for (std::size_t i = 0; i < here.taps().size(); ++i) EXPECT_TRUE(there.taps()[i].value == here.taps()[i].value);
}

TEST(Offload, TakesTheHostSMemoryForWhatSteps) {
  const MemoryUse there = memory_of(offloaded_case(true), {}), here = memory_of(offloaded_case(false), {});

  const std::size_t elements = 5 * 4 + 4 + 4 * 3 + 3;
  EXPECT_EQ(here.of("host memory"), 0u);
  EXPECT_EQ(there.of("host memory"), 4 * 4 * elements);  // master, buffer, unscaled gradients, momentum
  EXPECT_EQ(there.of("optimizer state"), 0u);
  EXPECT_EQ(here.of("optimizer state"), 4 * elements);
  EXPECT_EQ(there.of("gradients") + 4 * elements, here.of("gradients"));
  EXPECT_EQ(there.of("parameters"), here.of("parameters"));
  EXPECT_EQ(there.of("unknown"), 0u);
}

}  // namespace
}  // namespace tally::offload_test
