#include <gtest/gtest.h>

#include "kernels/trace/trace.hpp"

namespace tally::known_claims_test {
namespace {

TEST(KnownClaims, AreThoseOfTheTextWhateverWasReadBefore) {
  Claims one, other;
  one.subject = "one";
  other.subject = "other";
  other.flushes_subnormals = true;
  for (const Claims* each : {&one, &other, &other, &one})
    EXPECT_EQ(to_json(known_claims(to_json(*each))), to_json(*each));
}

TEST(KnownClaims, OfAWrongTextAreNoneAndDoNotStay) {
  const std::string right = to_json(Claims{});
  EXPECT_EQ(to_json(known_claims(right)), right);
  EXPECT_THROW(known_claims("{\"nonsense\": 1}"), std::runtime_error);
  EXPECT_THROW(known_claims("{\"nonsense\": 1}"), std::runtime_error);
  EXPECT_THROW(known_claims(""), std::runtime_error);
  EXPECT_EQ(to_json(known_claims(right)), right);
}

}  // namespace
}  // namespace tally::known_claims_test
