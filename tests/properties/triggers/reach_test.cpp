#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/case/file/parts.hpp"
#include "properties/campaign/coverage/coverage.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/drawn_options.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/generators/settings.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/settings/together.hpp"

namespace tally::reach_test {
namespace {

std::vector<std::string> names_of(const Contract& contract, const std::string& option) {
  std::vector<std::string> names;
  for (const Option& each : contract.options) {
    if (each.name != option) continue;
    for (const OptionValue& value : values_worth_drawing(contract, each)) names.push_back(name_of_value(value));
  }
  return names;
}

std::vector<const Contract*> all_contracts() {
  std::vector<const Contract*> all;
  for (const char* section : {"layer", "loss", "optimizer", "learning_rate", "weight_decay", "clip", "loss_scale"}) {
    const auto found = drawn_contracts_of(section);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

bool is_size(const Contract& contract, const Option& option) {
  return contract.section == "layer" && option.type == OptionType::integer;
}

TEST(OptionValues, AreThreeForEveryOptionThatHasAsMany) {
  ASSERT_FALSE(all_contracts().empty());
  for (const Contract* contract : all_contracts()) {
    for (const Option& option : contract->options) {
      const std::size_t values = values_worth_drawing(*contract, option).size();
      const bool few = option.type == OptionType::boolean || option.type == OptionType::number_list;
      const std::size_t least = is_size(*contract, option) ? 0
                                : few                      ? 2
                                                           : std::min<std::size_t>(3, 1 + option.words.size());
      if (option.type == OptionType::text) {
        EXPECT_EQ(values, option.words.size()) << contract->kind << " " << option.name;
      } else {
        EXPECT_GE(values, least) << contract->kind << " " << option.name;
      }
    }
  }
}

TEST(OptionValues, HoldZeroWhereItIsLegalAndNoValueOutOfRange) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of(*find_contract("optimizer", "adam"), "beta1"), (Names{"0.9", "0", "0.5"}));
  EXPECT_EQ(names_of(*find_contract("clip", "global_norm"), "epsilon"), (Names{"1e-06", "0", "1e-04", "1e-08"}));
  EXPECT_EQ(names_of(*find_contract("layer", "layer_norm"), "eps"), (Names{"1e-05", "0.001", "1e-07"}));
  EXPECT_EQ(names_of(*find_contract("loss_scale", "dynamic"), "backoff_factor"), (Names{"0.5", "0.25", "0.75"}));
  EXPECT_EQ(names_of(*find_contract("loss", "cross_entropy"), "ignore_index"), (Names{"-100", "-1", "0", "1", "2"}));
  EXPECT_EQ(names_of(*find_contract("weight_decay", "l2"), "exclude"),
            (Names{"none", "bias", "norm", "embedding", "bias, norm, embedding"}));
}

/// A contract that no list knows.
TEST(OptionValues, OfANewOptionOfANewKindNeedNoList) {
  const Contract contract{.section = "clip",
                          .kind = "by_percentile",
                          .options = {{.name = "share",
                                       .type = OptionType::number,
                                       .standard = std::nullopt,
                                       .range = {.above = "0", .at_most = "1"}}}};
  EXPECT_EQ(names_of(contract, "share"), (std::vector<std::string>{"1", "0.5", "0.25"}));
}

TEST(DrawnOptions, LeaveEveryCaseLegalAndReachEveryValue) {
  std::set<std::string> missing;
  for (const TriggerRecord& record : records_to_reach(ExecutorKind::host))
    if (record.kind == "option") missing.insert(record.name);
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Plan plan = random_plan(Dtype::fp32)(rc::Random(seed), rc::kNominalSize).value();
    draw_options(plan);
    if (seed % 8 == 0) read_tokens(plan);
    if (seed % 8 == 1) dealt_to_ranks(plan);
    if (seed % 8 == 2) attend(plan);
    if (seed % 8 >= 1 && seed % 8 <= 3) add_adapters(plan);
    if (seed % 8 == 4) put_together(plan, seed);
    fit_options(plan);
    Case c;
    ASSERT_NO_THROW(c = case_of(plan)) << seed;
    for (const std::size_t place : reached_by(ExecutorKind::host, c, {}))
      missing.erase(records_to_reach(ExecutorKind::host)[place].name);
  }
  EXPECT_TRUE(missing.empty()) << *missing.begin() << " and " << missing.size() - 1 << " more";
}

TEST(Reach, DemandsEverySizeAroundItsEdgesAndBesideEveryWord) {
  std::set<std::string> sizes;
  for (const TriggerRecord& record : records_to_reach(ExecutorKind::host))
    if (record.kind == "size") sizes.insert(record.name);
  for (const char* name : {"keys of a sliding window = 17", "pairs of a head that turn = 3", "users of a table = 3",
                           "chunks of a stage = 3", "items of a window = 0, reduce.divide = unscale"})
    EXPECT_TRUE(sizes.contains(name)) << name;
}

TEST(Coverage, CountsPathsOfTheScopesExecutorAlone) {
  const Plan plan = random_plan(Dtype::fp32)(rc::Random(5), 20).value();
  const Case c = case_of(plan);
  const CoverageScope scope(c);
  run_and_check(c, RunOptions{});
  const auto& records = records_to_reach(ExecutorKind::host);
  ASSERT_EQ(scope.runs().size(), 1u);
  const auto paths =
      std::ranges::count_if(scope.runs()[0].reached, [&](std::size_t i) { return records[i].kind == "path"; });
  EXPECT_GT(paths, 0);

  Coverage coverage;
  coverage.add_case(scope.runs());

  std::int64_t seen = 0;
  for (const TriggerRecord& record : coverage.records()) seen += record.kind == "path" && record.seen == 1;
  EXPECT_EQ(seen, paths);
}

}  // namespace
}  // namespace tally::reach_test
