#include <gtest/gtest.h>

#include "oracle/layers/claim.hpp"

namespace tally {
namespace {

std::string refusal(const std::string& json) {
  try {
    claims_of_json(json);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Claims, ComeBackAsTheyWereWritten) {
  Claims claims;
  claims.subject = "cuda";
  claims.tensor_cores = true;
  claims.kernels["norm"] = {"two_stage", Repeats::within_claim, 12, "welford", true, Dtype::bf16};
  const Claims back = claims_of_json(to_json(claims));
  EXPECT_EQ(to_json(back), to_json(claims));
  EXPECT_EQ(back.kernels.at("norm").height, 12);
  EXPECT_EQ(back.kernels.at("norm").repeats, Repeats::within_claim);
}

TEST(Claims, NameTheKeyTheyRefuse) {
  std::string text = to_json(Claims{});
  EXPECT_EQ(refusal("[]"), "claims: the document is []; expected an object");
  text.replace(text.find("binary64"), 8, "fp64");
  EXPECT_EQ(refusal(text), "claims: constants is \"fp64\"; expected binary64 | fp32");
  EXPECT_EQ(refusal(R"({"speed": 1})"), "claims: speed is unknown; expected a key of a claim");
}

}  // namespace
}  // namespace tally
