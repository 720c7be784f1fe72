#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>

#include "case_files.hpp"
#include "oracle/case/io.hpp"

namespace tally::validate_test {
namespace {

Case valid(const char* name) { return read_case_file(tests::case_folder / "valid" / (std::string(name) + ".json")); }

std::set<std::string> errors_after(const char* name, const std::function<void(Case&)>& change) {
  Case c = valid(name);
  change(c);
  std::set<std::string> paths;
  for (const CaseError& error : validate(c)) paths.insert(error.path);
  return paths;
}

using Paths = std::set<std::string>;

TEST(Validate, FindsNothingInValidCases) {
  for (const auto& file : tests::json_files(tests::case_folder / "valid"))
    EXPECT_TRUE(validate(read_case_file(file)).empty()) << file;
}

TEST(Validate, ChecksChoicesBuiltInMemory) {
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.recipe.optimizer.options.erase("momentum"); }),
            Paths{"$.recipe.optimizer.momentum"});
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.recipe.optimizer.options["momentum"] = std::int64_t{0}; }),
            Paths{"$.recipe.optimizer.momentum"});
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.recipe.clip.kind = "hard"; }), Paths{"$.recipe.clip.kind"});
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.recipe.clip.options["max"] = true; }),
            Paths{"$.recipe.clip.max"});
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.recipe.learning_rate.options["base"] = Decimal{"1,5"}; }),
            Paths{"$.recipe.learning_rate.base"});
  EXPECT_EQ(errors_after("adam_fp16_dynamic_scale",
                         [](Case& c) { c.model.layers[2].options["approximate"] = std::string("erf"); }),
            Paths{"$.model.layers[2].approximate"});
  EXPECT_EQ(errors_after("adam_fp16_dynamic_scale",
                         [](Case& c) {
                           c.recipe.weight_decay.options["exclude"] = std::vector<std::string>{"bias", "x"};
                         }),
            Paths{"$.recipe.weight_decay.exclude[1]"});
}

TEST(Validate, ChecksTheLayersThatRunAgain) {
  EXPECT_EQ(errors_after("some_recomputed", [](Case& c) { c.execution.recompute = false; }),
            Paths{"$.execution.recompute"});
  EXPECT_EQ(errors_after("some_recomputed", [](Case& c) { c.execution.recomputed.push_back("relu"); }),
            Paths{"$.execution.recompute[1]"});
}

TEST(Validate, ChecksNames) {
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.name = "\xff"; }), Paths{"$.name"});
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.model.layers[0].name = "a.b"; }),
            Paths{"$.model.layers[0].name"});
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.model.layers[0].name = ""; }), Paths{"$.model.layers[0].name"});
}

TEST(Validate, ChecksSizesWithoutOverflow) {
  static constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(errors_after("resumed_sgd",
                         [](Case& c) {
                           c.windows = {{huge, huge}, {1}};
                         }),
            (Paths{"$.windows[0][0]", "$.windows[0][1]"}));
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.model.layers[0].options["out"] = huge; }),
            Paths{"$.model.layers[0]"});
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.model.input = 0; }).count("$.model.input"), 1u);
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.windows = {}; }), Paths{"$.windows"});
}

/// Rows and features that are each affordable, their product not: no tensor of the file is that large.
TEST(Validate, ChecksTheSizeOfActivations) {
  const auto errors = errors_after("resumed_sgd", [](Case& c) {
    c.windows = {{1 << 20}};
    c.model.layers[0].options["out"] = std::int64_t{1 << 20};
  });
  EXPECT_EQ(errors, Paths{"$.model.layers[0]"});
}

TEST(Validate, ChecksTensorsBuiltInMemory) {
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.tensors.at("x").bytes.own().pop_back(); }),
            Paths{"$.tensors.x"});
  EXPECT_EQ(
      errors_after("resumed_sgd", [](Case& c) { c.tensors.at("x").set(2, std::numeric_limits<double>::infinity()); }),
      Paths{"$.tensors.x.data[2]"});
  EXPECT_EQ(errors_after("resumed_sgd",
                         [](Case& c) { c.tensors.at("fc.bias").set(1, std::numeric_limits<double>::quiet_NaN()); }),
            Paths{"$.tensors['fc.bias'].data[1]"});
  EXPECT_EQ(errors_after("window_statistics_one_row_micro_batches",
                         [](Case& c) { c.tensors.at("bn.running_var").set(1, -1); }),
            Paths{"$.tensors['bn.running_var'].data[1]"});
  EXPECT_EQ(errors_after("adam_fp16_dynamic_scale", [](Case& c) { c.tensors.at("item_weight").set(0, -1); }),
            Paths{"$.tensors.item_weight.data[0]"});
  EXPECT_EQ(errors_after("adam_fp16_dynamic_scale", [](Case& c) { c.tensors.erase("item_weight"); }),
            Paths{"$.tensors.item_weight"});
}

TEST(Validate, ChecksPrecision) {
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.precision.compute = Dtype::bf16; }),
            Paths{"$.precision.compute"});
  EXPECT_EQ(errors_after("narrow_everywhere", [](Case& c) { c.precision.tf32 = true; }), Paths{"$.precision.tf32"});
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.precision.accumulate = Dtype::i64; }),
            Paths{"$.precision.accumulate"});
}

TEST(Validate, AllowsStepsWithoutMomentsAndRefusesMomentsWithoutSteps) {
  EXPECT_EQ(errors_after("resumed_adam", [](Case& c) { c.tensors.erase("step"); }), Paths{"$.tensors.step"});
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.tensors.erase("step"); }), Paths{});
  EXPECT_EQ(errors_after("resumed_sgd", [](Case& c) { c.tensors.erase("momentum.fc.weight"); }),
            Paths{"$.tensors['momentum.fc.weight']"});
  EXPECT_EQ(errors_after("resumed_sgd",
                         [](Case& c) { c.tensors.erase("momentum.fc.weight"), c.tensors.erase("momentum.fc.bias"); }),
            Paths{});
}

/// frozen statistics accept single rows, window statistics single-row micro-batches.
TEST(Validate, AsksForTwoRowsWhereStatisticsAreTaken) {
  const auto with = [](const char* statistics) {
    return errors_after("window_statistics_one_row_micro_batches",
                        [&](Case& c) { c.model.layers[1].options["statistics"] = std::string(statistics); });
  };
  EXPECT_EQ(with("frozen"), Paths{});
  EXPECT_EQ(with("window"), Paths{});
  EXPECT_EQ(with("micro_batch"), (Paths{"$.windows[0][0]", "$.windows[0][1]", "$.windows[1][0]"}));
}

}  // namespace
}  // namespace tally::validate_test
