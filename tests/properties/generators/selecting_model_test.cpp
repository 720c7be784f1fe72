#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/case/io.hpp"
#include "properties/generators/exact_cases.hpp"
#include "tests/kernels/attention_case.hpp"

namespace tally::selecting_model_test {
namespace {

TEST(SelectingModel, IsAValidCaseInEveryFormat) {
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    const Case c = selecting_model(small_attention_model(1, storage));
    for (const CaseError& error : validate(c)) ADD_FAILURE() << error.path << " " << error.found;
    EXPECT_EQ(c.precision.storage, storage);
  }
}

TEST(SelectingModel, CutsSequencesAtEightRows) {
  Case c = small_attention_model(1);
  c.windows = {{19, 2}};
  c.sequences = {19, 1, 1};
  c.tensors.clear();
  fill_tensors(c);
  EXPECT_EQ(selecting_model(c).sequences, (std::vector<std::int64_t>{8, 8, 3, 1, 1}));
}

/// Each code stands in a sequence twice at most, and its weights are 1/2 or 1.
TEST(SelectingModel, HoldsEachCodeOfASequenceOnceOrTwice) {
  const Case c = selecting_model(small_attention_model(1));
  std::size_t row = 0;
  for (const std::int64_t length : c.sequences) {
    std::vector<int> seen(4, 0);
    for (std::int64_t i = 0; i < length; ++i, ++row)
      ++seen[static_cast<std::size_t>(c.tensors.at("tokens").integer(row) % 4)];
    EXPECT_LE(*std::ranges::max_element(seen), 2);
  }
  EXPECT_GT(row, 0u);
}

}  // namespace
}  // namespace tally::selecting_model_test
