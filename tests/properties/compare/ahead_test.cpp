#include "properties/judge/lens.hpp"
#include "properties/judge/ordered_parts.hpp"
#include "tests/kernels/attention_case.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::ahead_test {
namespace {

std::vector<std::size_t> taken(std::size_t n, int threads, std::size_t stop) {
  std::vector<std::size_t> all;
  const bool whole = taken_in_order(
      n, threads, [](std::size_t i) { return 10 * i; },
      [&](std::size_t made) {
        all.push_back(made);
        return made / 10 != stop;
      });
  EXPECT_EQ(whole, stop >= n);
  return all;
}

TEST(Ahead, TakesInOrderUntilItIsToldToStop) {
  for (const int threads : {1, 2, 3, 7}) {
    EXPECT_EQ(taken(5, threads, 9), (std::vector<std::size_t>{0, 10, 20, 30, 40})) << threads;
    EXPECT_EQ(taken(5, threads, 1), (std::vector<std::size_t>{0, 10})) << threads;
    EXPECT_EQ(taken(0, threads, 9), std::vector<std::size_t>{}) << threads;
  }
}

TEST(Ahead, PassesOnWhatIsThrown) {
  const auto make = [](std::size_t i) {
    if (i == 2) throw std::runtime_error("of the third");
    return i;
  };
  EXPECT_THROW(taken_in_order(4, 3, make, [](std::size_t) { return true; }), std::runtime_error);
}

/// Wide enough that a weight is several stretches.
Case wide_case() {
  Case c = small_case();
  c.model.input = 300;
  c.model.layers = {layer_of("linear", "fc1", {{"out", std::int64_t{200}}}), layer_of("relu", ""),
                    layer_of("linear", "fc2", {{"out", std::int64_t{10}}})};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 1);
  return c;
}

void expect_the_same_by_any_number_of_threads(const Case& c) {
  Trace trace = run(c);
  trace.claims = {};
  const std::vector<TensorCheck> one = local_lens(c, trace);
  for (const int threads : {2, 3}) {
    set_threads_of_a_case(threads);
    const std::vector<TensorCheck> several = local_lens(c, trace);
    set_threads_of_a_case(1);
    ASSERT_EQ(several.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(several[i].tap, one[i].tap);
      EXPECT_EQ(several[i].status, one[i].status) << one[i].tap;
      EXPECT_EQ(several[i].worst_ratio, one[i].worst_ratio) << one[i].tap;
      EXPECT_EQ(several[i].norm_bound, one[i].norm_bound) << one[i].tap;
      EXPECT_EQ(several[i].norm_error, one[i].norm_error) << one[i].tap;
      EXPECT_EQ(several[i].spread.log10_chance, one[i].spread.log10_chance) << one[i].tap;
    }
  }
}

TEST(Ahead, JudgesTheSameByAnyNumberOfThreads) { expect_the_same_by_any_number_of_threads(wide_case()); }

/// Heads of an attention go by several threads, some more than there are groups of them.
TEST(Ahead, JudgesAttentionTheSameByAnyNumberOfThreads) {
  for (const std::int64_t groups : {1, 2, 4})
    expect_the_same_by_any_number_of_threads(small_attention_model(3, Dtype::fp32, {{"kv_heads", groups}}));
}

TEST(Ahead, JudgesTheLastRowOfAWideTensorToo) {
  const Case c = wide_case();
  Trace trace = run(c);
  trace.claims = {};
  const std::string name = "w0/m0/backward/d.fc1.weight";
  Tensor wrong = *trace.find(name);
  const std::size_t last = wrong.elements() - 1;
  wrong.set(last, 2 * wrong.value(last) + 1);
  trace.add(tap_name_of(name), std::move(wrong));
  const std::vector<TensorCheck> checks = local_lens(c, trace);
  ASSERT_NE(first_failure(checks), nullptr);
  EXPECT_EQ(first_failure(checks)->tap, name);
  EXPECT_EQ(first_failure(checks)->worst_index, (std::vector<std::int64_t>{199, 299}));
}

}  // namespace
}  // namespace tally::ahead_test
