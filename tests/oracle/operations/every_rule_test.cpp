// One small call of every operation that has a rule: it is held, and it is seen when one of its results is spoiled.
#include <set>

#include "oracle/registered_files.hpp"
#include "tests/oracle/operations/small_elementwise_calls.hpp"
#include "tests/oracle/operations/small_tensor_calls.hpp"

namespace tally::oracle::operations::every_rule_test {
namespace {

/// Operations that are held to nothing: they name memory, or draw.
const std::set<std::string> held_to_nothing{"view",
                                            "t",
                                            "transpose",
                                            "permute",
                                            "expand",
                                            "unsqueeze",
                                            "squeeze",
                                            "slice",
                                            "select",
                                            "split",
                                            "split_with_sizes",
                                            "unbind",
                                            "alias",
                                            "detach",
                                            "as_strided",
                                            "diagonal",
                                            "unfold",
                                            "lift_fresh",
                                            "_reshape_alias",
                                            "view_as_real",
                                            "set_",
                                            "resize_",
                                            "chunk",
                                            "narrow",
                                            "movedim",
                                            "numpy_T",
                                            "expand_as",
                                            "view_as",
                                            "empty",
                                            "empty_like",
                                            "empty_strided",
                                            "new_empty",
                                            "new_empty_strided",
                                            "rand",
                                            "randn",
                                            "randint",
                                            "rand_like",
                                            "randn_like",
                                            "randint_like",
                                            "bernoulli",
                                            "uniform",
                                            "normal",
                                            "random",
                                            "randperm",
                                            "multinomial",
                                            "exponential",
                                            "_local_scalar_dense",
                                            "_record_function_enter_new",
                                            "_record_function_exit",
                                            "item",
                                            "is_same_size",
                                            "_has_compatible_shallow_copy_type",
                                            "_assert_async"};

std::map<std::string, Call> small_calls() {
  std::map<std::string, Call> all;
  add_small_elementwise_calls(all);
  add_small_calls_of_tensors(all);
  return all;
}

TEST(EveryRule, HoldsASmallCallAndSeesItSpoiled) {
  const std::map<std::string, Call> calls = small_calls();
  std::set<std::string> without;
  std::size_t rules = 0;
  for (const OperationRule* each : all_records<OperationRule>()) {
    const OperationRule& rule = *each;
    ++rules;
    if (held_to_nothing.contains(rule.name)) {
      EXPECT_TRUE(demands_of(call_of(rule.name, {}, {}), {}).empty()) << rule.name;
      continue;
    }
    if (!calls.contains(rule.name)) {
      without.insert(rule.name);
      continue;
    }
    const Call& call = calls.at(rule.name);
    const std::vector<Demand> demands = demands_of(call, {});
    EXPECT_FALSE(demands.empty()) << rule.name;
    for (const Demand& demand : demands) {
      Standing right, wrong;
      hold(demand, right);
      EXPECT_EQ(right.wrong, 0) << rule.name << " " << right.first;
      EXPECT_EQ(right.undecided, 0) << rule.name;
      View spoiled = demand.found;
      double first = 0;
      spoiled.read(0, 1, &first);
      store(spoiled.element,
            spoiled.element == Element::boolean ? 1 - first
            : first == 7                        ? 3
                                                : 7,
            const_cast<std::byte*>(spoiled.first));
      hold(demand, wrong);
      EXPECT_GT(wrong.wrong, 0) << rule.name << " " << demand.output;
      store(spoiled.element, first, const_cast<std::byte*>(spoiled.first));
    }
  }
  EXPECT_GT(rules, 150u);
  EXPECT_EQ(without, std::set<std::string>{});
}

}  // namespace
}  // namespace tally::oracle::operations::every_rule_test
