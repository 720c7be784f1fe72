#include <gtest/gtest.h>

#include "oracle/case/rows.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::item_weights_test {
namespace {

/// Every row's weight is what item_weight() says, or not whole.
void expect_as_stated(const Case& c) {
  const ItemWeights weights(c);
  for (std::int64_t row = 0; row < rows_of(c); ++row) {
    const auto whole = weights.whole(row);
    if (whole) EXPECT_EQ(std::to_string(*whole), item_weight(c, row).text) << row;
  }
}

TEST(ItemWeights, AreThoseOfEachRow) {
  Case c = small_case();
  fill_tensors(c);
  expect_as_stated(c);
  ASSERT_TRUE(ItemWeights(c).whole_sum(0, rows_of(c)));
  EXPECT_LT(*ItemWeights(c).whole_sum(0, rows_of(c)), rows_of(c)) << "a target is ignored";
}

TEST(ItemWeights, LeaveTheWeightsOfClassesToTheirText) {
  Case c = small_case();
  c.model.loss = choice_of("loss", "cross_entropy", {{"weight", std::vector<Decimal>{{"0.5"}, {"2"}, {"1"}}}});
  fill_tensors(c);
  expect_as_stated(c);
  EXPECT_FALSE(ItemWeights(c).whole_sum(0, rows_of(c)));
}

TEST(ItemWeights, AddUpToWhatBinary64Holds) {
  Case c = small_case();
  c.model.loss = choice_of("loss", "mse", {{"item_weights", true}});
  Tensor weight(Dtype::i64, {rows_of(c)});
  for (std::size_t row = 0; row < weight.elements(); ++row) weight.set(row, 3);
  c.tensors["item_weight"] = weight;
  expect_as_stated(c);
  EXPECT_EQ(ItemWeights(c).whole_sum(1, 2), 6);
  c.tensors["item_weight"].set(0, 0x1p53);
  EXPECT_TRUE(ItemWeights(c).whole(0));
  EXPECT_FALSE(ItemWeights(c).whole_sum(0, 2)) << "beyond 2^53";
}

}  // namespace
}  // namespace tally::item_weights_test
