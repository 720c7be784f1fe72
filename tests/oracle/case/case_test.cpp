#include "oracle/case/case.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "case_files.hpp"
#include "oracle/case/io.hpp"

namespace tally::case_test {
namespace {

Case valid(const char* name) { return read_case_file(tests::case_folder / "valid" / (std::string(name) + ".json")); }

TEST(Choice, RefusesAbsentOptionsAndOtherTypes) {
  const Choice choice{"sgd", {{"nesterov", true}, {"momentum", Decimal{"0.9"}}}};

  EXPECT_TRUE(choice.flag("nesterov"));
  EXPECT_EQ(choice.number("momentum").to_double(), 0.9);
  EXPECT_THROW(choice.number("dampening"), std::logic_error);
  EXPECT_THROW(choice.integer("momentum"), std::logic_error);
  EXPECT_THROW(choice.text("nesterov"), std::logic_error);
}

TEST(Case, LabelsLayersByNameOrKindAndPlace) {
  const Model model = valid("two_windows_short_tail").model;
  EXPECT_EQ(label_of(model, 1), "bn1");
  EXPECT_EQ(label_of(model, 2), "relu#2");
  EXPECT_THROW(label_of(model, 4), std::out_of_range);
}

TEST(Case, FollowsFeaturesThroughTheLayers) {
  const Model model = valid("adam_fp16_dynamic_scale").model;
  EXPECT_EQ(features_before(model, 0), 3);
  EXPECT_EQ(features_before(model, 1), 4);
  EXPECT_EQ(features_before(model, 3), 4);
  EXPECT_EQ(features_before(model, 4), 2);
  EXPECT_THROW(features_before(model, 5), std::out_of_range);
}

TEST(Case, NamesParametersInModelOrderWithoutRunningValues) {
  EXPECT_EQ(parameters_of(valid("two_windows_short_tail").model),
            (std::vector<std::string>{"fc1.weight", "fc1.bias", "bn1.weight", "bn1.bias", "fc2.weight", "fc2.bias"}));
  EXPECT_EQ(parameters_of(valid("frozen_statistics_sum_tf32").model),
            (std::vector<std::string>{"fc.weight", "fc.bias"}));
}

TEST(Case, FindsTheFirstRowOfAMicroBatch) {
  const Case c = valid("two_windows_short_tail");  // [[2, 2, 2], [2, 2]]
  EXPECT_EQ(first_row(c, 0), 0);
  EXPECT_EQ(first_row(c, 0, 2), 4);
  EXPECT_EQ(first_row(c, 1), 6);
  EXPECT_EQ(first_row(c, 1, 1), 8);
  EXPECT_THROW(first_row(c, 1, 2), std::out_of_range);
  EXPECT_THROW(first_row(c, 2), std::out_of_range);
}

TEST(Case, WeighsRowsByClassByItemOrByOne) {
  const Case classes = valid("dropout_bf16_ignored_micro_batch");  // weights 1, 0.5, 2; targets 0, 1, 7 (ignored), ...
  EXPECT_EQ(item_weight(classes, 0).text, "1");
  EXPECT_EQ(item_weight(classes, 1).text, "0.5");
  EXPECT_EQ(item_weight(classes, 2).text, "0");
  EXPECT_EQ(item_weight(classes, 4).text, "2");
  EXPECT_EQ(item_weight(valid("adam_fp16_dynamic_scale"), 3).text, "3");
  EXPECT_EQ(item_weight(valid("resumed_adam"), 3).text, "1");
  EXPECT_EQ(item_weight(valid("resumed_sgd"), 2).text, "1");
}

TEST(Case, BecomesItsFullBatch) {
  const Case full = full_batch_of(valid("two_windows_short_tail"));
  EXPECT_EQ(full.windows, (std::vector<std::vector<std::int64_t>>{{6}, {4}}));
  EXPECT_EQ(full.model.layers[1].text("statistics"), "window");
  EXPECT_EQ(full.normalisation, Normalisation::window_items);
  EXPECT_TRUE(validate(full).empty());

  EXPECT_EQ(full_batch_of(valid("frozen_statistics_sum_tf32")).normalisation, Normalisation::window_items);
  EXPECT_EQ(full_batch_of(valid("frozen_statistics_sum_tf32")).model.layers[0].text("statistics"), "frozen");
  EXPECT_EQ(full_batch_of(full), full);
}

TEST(Case, HashesByContentNotByLayout) {
  const Case c = valid("resumed_sgd");
  EXPECT_EQ(hash_of(read_case(write_case(c))), hash_of(c));
  EXPECT_EQ(hash_of(c), sha256(write_case(c)));
  EXPECT_EQ(hash_of(c).size(), 64u);

  Case other = c;
  other.tensors.at("x").set(0, -other.tensors.at("x").value(0));
  EXPECT_NE(hash_of(other), hash_of(c));
}

}  // namespace
}  // namespace tally::case_test
