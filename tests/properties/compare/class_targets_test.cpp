#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/evidence.hpp"
#include "properties/judge/bound_terms.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/loss_inputs.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::class_targets_test {
namespace {

TEST(ClassTargets, AreClassesOrIgnored) {
  const Choice loss = choice_of("loss", "cross_entropy", {{"ignore_index", std::int64_t{-7}}});

  EXPECT_TRUE(are_targets_of(loss, {0, 1, 2, -7}, 3));
  EXPECT_FALSE(are_targets_of(loss, {0, 3}, 3));
  EXPECT_FALSE(are_targets_of(loss, {-1}, 3));
  EXPECT_TRUE(are_targets_of(choice_of("loss", "mse"), {-1.5, 1e30}, 3));
}

TEST(ClassTargets, ThatAreNoneAreHandedOnWrongAndNoMore) {
  for (const double smoothing : {0.0, 0.1}) {
    Case c = small_case();
    c.model.loss = choice_of("loss", "cross_entropy", {{"label_smoothing", Decimal{smoothing == 0 ? "0" : "0.1"}}});
    c.tensors.clear();
    fill_tensors(c);
    draw_normal(c, 1);
    for (const std::int64_t wrong : {std::int64_t{1} << 40, std::int64_t{-1}}) {
      const Trace trace = altered(run(c), [&](const Tap& tap) -> std::optional<Tensor> {
        if (tap.name.stage != "loss" || tap.name.tensor != "in.target") return std::nullopt;
        Tensor target = tap.value;
        target.set_bits(0, static_cast<std::uint64_t>(wrong));
        return target;
      });
      auto checks = hard_lenses(c, trace, Grouping::declared).checks;
      split_bounds(c, trace, checks);
      const TensorCheck* failure = first_failure(checks);

      ASSERT_NE(failure, nullptr);
      EXPECT_EQ(failure->tap, "w0/m0/loss/in.target");
      diagnose(c, trace, checks);  // ends
    }
  }
}

}  // namespace
}  // namespace tally::class_targets_test
