#include <gtest/gtest.h>

#include <stdexcept>

#include "oracle/case/batch.hpp"
#include "oracle/case/io.hpp"
#include "oracle/exact/exact.hpp"
#include "tests/kernels/attention_case.hpp"
#include "tests/oracle/window/slopes.hpp"

namespace tally::padded_test {
namespace {

/// Two micro-batches, of sequences of two rows and one, and of three.
Case three_sequences() {
  Case c = small_attention_model(3);
  c.windows = {{3, 3}};
  c.sequences = {2, 1, 3};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);
  return c;
}

std::vector<std::int64_t> integers(const Tensor& tensor) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < tensor.elements(); ++i) values.push_back(tensor.integer(i));
  return values;
}

TEST(Padded, FillsLinesUpToTheLongestOfTheirMicroBatch) {
  Case c = three_sequences();
  for (std::size_t i = 0; i < 6; ++i) c.tensors.at("tokens").set_bits(i, i + 1);

  const PaddedCase right = padded(c, {PaddedSide::right, 1, 0});
  EXPECT_EQ(right.c.windows, (std::vector<std::vector<std::int64_t>>{{4, 3}}));
  EXPECT_EQ(right.c.sequences, (std::vector<std::int64_t>{2, 1, 1, 3}));
  EXPECT_EQ(integers(right.c.tensors.at("tokens")), (std::vector<std::int64_t>{1, 2, 3, 0, 4, 5, 6}));

  const PaddedCase left = padded(c, {PaddedSide::left, 2, 6});
  EXPECT_EQ(left.c.windows, (std::vector<std::vector<std::int64_t>>{{4, 4}}));
  EXPECT_EQ(left.c.sequences, (std::vector<std::int64_t>{2, 1, 1, 1, 3}));
  EXPECT_EQ(integers(left.c.tensors.at("tokens")), (std::vector<std::int64_t>{1, 2, 6, 3, 6, 4, 5, 6}));
  EXPECT_EQ(left.padding, (std::vector<bool>{false, false, true, false, true, false, false, false}));
}

TEST(Padded, IsAValidCase) {
  for (const PaddedSide side : {PaddedSide::left, PaddedSide::right})
    for (const CaseError& error : validate(padded(small_attention_model(1), {side, 4, 6}).c))
      ADD_FAILURE() << error.path << " " << error.found;
  for (const CaseError& error : validate(with_sequences_alone(small_attention_model(1))))
    ADD_FAILURE() << error.path << " " << error.found;
}

/// A row of padding has one pair in a mask of attention.
TEST(Padded, FillsAMaskOfAttention) {
  Case c = small_attention_model(2, Dtype::fp32, {{"p", Decimal{"0.5"}}});
  c.windows = {{3}};
  c.sequences = {2, 1};
  c.tensors.clear();
  fill_tensors(c);
  Tensor& mask = c.tensors.at("att.mask");
  for (std::size_t i = 0; i < mask.elements(); ++i) mask.set_bits(i, 0);
  const PaddedCase made = padded(c, {PaddedSide::left, 1, 0});
  EXPECT_EQ(made.c.sequences, (std::vector<std::int64_t>{2, 1, 1}));
  const Tensor& filled = made.c.tensors.at("att.mask");
  for (std::size_t i = 0; i < filled.elements(); ++i) EXPECT_EQ(filled.integer(i), i % 6 == 4) << i;
}

/// Whatever holds: the batch is the same, and so is its gradient.
TEST(Padded, HasTheGradientOfTheCaseThatWasPadded) {
  const Case c = small_attention_model(5);
  const auto packed = oracle::first_window_of(c);
  for (const Case& other :
       {padded(c, {PaddedSide::right, 1, 0}).c, padded(c, {PaddedSide::left, 8, 3}).c, with_sequences_alone(c)}) {
    const auto answer = oracle::first_window_of(other);
    EXPECT_EQ(answer.loss, packed.loss);
    for (const auto& [parameter, gradient] : packed.grad) EXPECT_EQ(answer.grad.at(parameter), gradient) << parameter;
  }
}

TEST(Padded, LeavesSequencesAloneInMicroBatchesOfTheirOwn) {
  EXPECT_EQ(with_sequences_alone(three_sequences()).windows, (std::vector<std::vector<std::int64_t>>{{2, 1, 3}}));
}

TEST(Padded, RefusesWhatCannotBePadded) {
  Case c = three_sequences();
  EXPECT_THROW(padded(c, {PaddedSide::right, 0, 0}), std::invalid_argument);
  EXPECT_THROW(padded(c, {PaddedSide::right, 1, 7}), std::invalid_argument);
  c.model.tokens = false;
  EXPECT_THROW(padded(c, {}), std::invalid_argument);
}

}  // namespace
}  // namespace tally::padded_test
