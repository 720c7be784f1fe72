// A law that asks for bits only where sums are exact: not where a total has as many bits as its format.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "oracle/case/io.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/laws/law.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::sync_each_or_last_test {
namespace {

/// One parameter, one row a micro-batch: a rank's gradients are -2, 2^(1 - bits) and 0, so that what all ranks hold before
/// the last sum has `bits` bits, and the eighths of it that a ring of eight ranks has on the way up to three more.
Case total_of(int bits) {
  Plan plan = three::small_plan();
  plan.input = plan.outputs = 1;
  plan.hidden.clear();
  plan.output_bias = false;
  plan.loss = choice("loss", "mse");
  plan.normalisation = Normalisation::sum;
  plan.recipe.clip = choice("clip", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.windows = {{1, 1, 1}};
  Case c = case_of(plan);
  c.dealt = {{3, 0, 0, 0, 0, 0, 0, 0}};
  c.tensors.at("out.weight").set(0, 0);
  const double targets[] = {1, -std::ldexp(1.0, -bits), 0};
  for (std::size_t row = 0; row < std::size(targets); ++row) {
    c.tensors.at("x").set(row, 1);
    c.tensors.at("target").set(row, targets[row]);
  }
  c = with_rank_option(std::move(c), "reduce.divide", std::string("before"));
  return with_rank_option(std::move(c), "reduce.algorithm", std::string("ring"));
}

Outcome judged(const Case& c) {
  EXPECT_TRUE(validate(c).empty());
  return outcome_of(*find_law("sync_each_or_last"), c, {});
}

bool compares_bits(const Outcome& outcome) {
  return std::ranges::any_of(outcome.checks, [](const TensorCheck& check) { return check.lens == "bitwise"; });
}

TEST(SyncEachOrLast, AsksForBitsWhereEverySumIsExact) {
  for (const int bits : {1, 8, 20}) {
    const Outcome outcome = judged(total_of(bits));
    EXPECT_EQ(outcome.status, Status::pass) << bits << ": " << outcome.message;
    EXPECT_TRUE(compares_bits(outcome)) << bits;
  }
}

TEST(SyncEachOrLast, AsksForBoundsAloneWhereEighthsOfATotalAreRounded) {
  const Outcome outcome = judged(total_of(22));

  EXPECT_EQ(outcome.status, Status::pass) << outcome.message;
  EXPECT_FALSE(compares_bits(outcome));
}

}  // namespace
}  // namespace tally::sync_each_or_last_test
