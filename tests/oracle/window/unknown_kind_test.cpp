// A kind that no file registered is an error that names the section and the kind: no rule stands in for it.
#include <gtest/gtest.h>

#include <stdexcept>

#include "oracle/case/contract.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/expected.hpp"

namespace tally::oracle::unknown_kind_test {
namespace {

using Wide = long double;

/// What the error says that `use` throws for a kind.
template <class Use>
std::string message_of(const char* kind, Use use) {
  try {
    use(Choice{kind, {}});
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(UnknownKind, HasNoContract) {
  EXPECT_EQ(message_of("quantile", [](const Choice& c) { clips(c); }), "no clip is of the kind \"quantile\"");
  EXPECT_EQ(message_of("l1", [](const Choice& c) { decays(c); }), "no weight_decay is of the kind \"l1\"");
  EXPECT_EQ(message_of("searched", [](const Choice& c) { checks_overflow(c); }),
            "no loss_scale is of the kind \"searched\"");
  EXPECT_EQ(message_of("hinge", [](const Choice& c) { has_class_targets(c); }), "no loss is of the kind \"hinge\"");
}

TEST(UnknownKind, HasNoExactMathematics) {
  const Matrix<Wide> one = Matrix<Wide>::Ones(1, 1);
  EXPECT_EQ(message_of("cubic", [](const Choice& c) { learning_rate<Wide>(c, 0); }),
            "no exact mathematics for the learning_rate \"cubic\"");
  EXPECT_EQ(message_of("l1", [&](const Choice& c) { decayed<Wide>(c, 1, one, one); }),
            "no exact mathematics for the weight_decay \"l1\"");
  EXPECT_EQ(message_of("hinge", [](const Choice& c) { exact_loss<Wide>(c.kind); }),
            "no exact mathematics for the loss \"hinge\"");
  EXPECT_EQ(message_of("quantile", [&](const Choice& c) { clipped<Wide>(c, 1, one); }),
            "no clip is of the kind \"quantile\"");
  EXPECT_EQ(message_of("searched",
                       [](const Choice& c) {
                         next_scale<Wide>(c, {1, 0}, true);
                       }),
            "no loss_scale is of the kind \"searched\"");
}

TEST(UnknownKind, HasNoBounds) {
  EXPECT_EQ(message_of("cubic", [](const Choice& c) { schedule_rules(c); }),
            "no bounds for the learning_rate \"cubic\"");
  EXPECT_EQ(message_of("quantile", [](const Choice& c) { clip_rules(c); }), "no bounds for the clip \"quantile\"");
  EXPECT_EQ(message_of("l1", [](const Choice& c) { decay_rules(c); }), "no bounds for the weight_decay \"l1\"");
  EXPECT_EQ(message_of("static", [](const Choice& c) { scale_rules(c); }), "no bounds for the loss_scale \"static\"");
  EXPECT_EQ(message_of("lamb", [](const Choice& c) { rules_of(c); }), "no bounds for the optimizer \"lamb\"");
}

}  // namespace
}  // namespace tally::oracle::unknown_kind_test
