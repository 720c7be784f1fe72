#include <gtest/gtest.h>

#include "kernels/training_step/run/cost.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::memory_test {
namespace {

TEST(MemoryKind, NamesEveryBufferOfAStepWithEveryLayer) {
  Case c = case_with_everything();
  EXPECT_EQ(memory_of(c, {}).of("unknown"), 0u);

  c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}});
  c.model.layers[1].options["statistics"] = std::string("window");
  c.model.loss = choice_of("loss", "mse", {{"item_weights", true}});
  c.tensors.clear();
  fill_tensors(c);
  c.tensors["item_weight"] = Tensor(Dtype::i64, {rows_of(c)});
  EXPECT_EQ(memory_of(c, {}).of("unknown"), 0u);
}

TEST(MemoryKind, DoesNotTakeAParameterForTheOptimizerStateOfAnother) {
  EXPECT_EQ(memory_kind("momentum.weight"), "parameters");
  EXPECT_EQ(memory_kind("momentum.fc1.weight"), "optimizer state");
  EXPECT_EQ(memory_kind("d.fc1.x"), "activations");
  EXPECT_EQ(memory_kind("scratch"), "unknown");
}

TEST(MemoryOf, CountsTheBytesOfASmallStep) {
  const MemoryUse use = memory_of(small_case(), {});

  const std::size_t elements = 5 * 4 + 4 + 4 * 3 + 3;
  EXPECT_EQ(use.of("parameters"), 4 * elements);
  EXPECT_EQ(use.of("storage copies"), 4 * elements);
  EXPECT_EQ(use.of("gradients"), 3 * 4 * elements);  // of a micro-batch, accumulated, unscaled
  EXPECT_EQ(use.of("optimizer state"), 0u);
  const std::size_t a_row = 4 + 4 + 3 + 4 + 4 + 3 + 1;  // y of three layers, dx above the first, dy, loss
  EXPECT_EQ(use.of("activations"), 4 * 3 * a_row);
  std::size_t sum = 0;
  for (const auto& [kind, bytes] : use.kinds) sum += bytes;
  EXPECT_EQ(use.peak, sum) << "nothing is released during a step";
}

}  // namespace
}  // namespace tally::memory_test
