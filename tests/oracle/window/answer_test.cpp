#include "oracle/window/answer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "oracle/case/io.hpp"
#include "oracle/real/number.hpp"
#include "oracle/window/certificate.hpp"
#include "tests/oracle/real/second_route.hpp"
#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle {
namespace {

using Json = nlohmann::json;

Json answered(const Case& c, unsigned digits = 30) { return Json::parse(answer(c, digits)); }

Real read(const Json& text) { return number<Real>(Decimal{text.get<std::string>()}); }

/// Every number of `few` against `many`: less than one unit of its digit `digits`, or 0 far below its group's largest.
void expect_agreement(const Json& few, const Json& many, unsigned digits, const Real& largest) {
  if (few.is_structured()) {
    ASSERT_EQ(few.size(), many.size());
    for (auto a = few.begin(), b = many.begin(); a != few.end(); ++a, ++b) expect_agreement(*a, *b, digits, largest);
    return;
  }
  if (!few.is_string()) return;
  const Real unit = power(Real(0.1), digits);  // of the last digit, relative to a number that begins with 1
  const Real difference = magnitude(read(few) - read(many)), size = magnitude(read(many));
  EXPECT_TRUE(difference <= 10 * unit * size || (read(few) == 0 && size <= unit * largest)) << few << " and " << many;
}

Case with_momentum(Case c) {
  c.recipe.optimizer.options["momentum"] = Decimal{"0.9"};
  return c;
}

TEST(Answer, GivesTheSameNumbersToMoreDigits) {
  const DigitsScope scope(coarse_digits);
  const Case c = with_momentum(small_case({{3, 2}, {2, 2}}, "micro_batch"));

  expect_agreement(answered(c, 10), answered(c, 60), 10, Real(1));
}

TEST(Answer, IsTheSameAfterTheCaseWentThroughAFile) {
  const Case c = with_momentum(small_case({{3, 2}, {2, 2}}, "micro_batch"));

  EXPECT_EQ(answer(read_case(write_case(c))), answer(c));
}

TEST(Answer, IsTheSameTextTwice) {
  const Case c = small_case({{3, 2}}, "micro_batch");

  EXPECT_EQ(answer(c), answer(c));
}

TEST(Answer, HasTheFieldsAndShapesOfTheCase) {
  const Json window = answered(with_momentum(small_case({{3, 2}}, "window")))["accumulated"][0];

  EXPECT_EQ(window["grad"]["fc1.weight"]["shape"], Json({4, 3}));
  EXPECT_EQ(window["grad"]["fc1.weight"]["data"].size(), 12u);
  EXPECT_EQ(window["momentum"]["bn.bias"]["shape"], Json({4}));
  EXPECT_EQ(window["running_var"]["bn"]["shape"], Json({4}));
  EXPECT_EQ(window["exp_avg"], Json::object());
  EXPECT_EQ(window["learning_rate"], "0.1");
  EXPECT_EQ(window["loss_scale"], "1");
  EXPECT_EQ(window["clip_coefficient"], "1");
  EXPECT_EQ(window["skipped"], false);
}

TEST(Answer, OfAWindowWithoutItemsHasNoLossAndTakesTheStep) {
  Case c = with_momentum(small_case({{2, 2}, {2}}, "window"));
  for (std::size_t row = 0; row < 4; ++row) c.tensors.at("target").set(row, -100);
  c.recipe.weight_decay = {"decoupled", {{"lambda", Decimal{"5"}}, {"exclude", std::vector<std::string>{}}}};

  const Json window = answered(c)["accumulated"][0];

  EXPECT_EQ(window["loss"], "nan");
  EXPECT_EQ(window["grad_norm"], "0");
  EXPECT_EQ(window["grad"]["fc2.weight"]["data"], Json(std::vector<std::string>(12, "0")));
  const DigitsScope scope(coarse_digits);  // 1 - 0.1 · 5 = 1/2 exactly
  EXPECT_EQ(read(window["param"]["fc1.bias"]["data"][0]), Real(c.tensors.at("fc1.bias").value(0)) / 2);
}

TEST(Answer, RefusesDigitsOutsideItsRange) {
  EXPECT_THROW(answer(small_case({{3}}, "window"), 0), std::invalid_argument);
  EXPECT_THROW(answer(small_case({{3}}, "window"), 1001), std::invalid_argument);
}

TEST(Certificate, IsRefusedWhereTwoPrecisionsDisagree) {
  const DigitsScope scope(coarse_digits);
  const Certificate certificate(10);
  const Real one = 1, off = one + power(Real(0.1), 10), near = one + power(Real(0.1), 11);

  EXPECT_THROW(certificate.text(off, one, one, "here"), NotCertified);
  EXPECT_EQ(certificate.text(near, one, one, "here"), "1");
  EXPECT_THROW(certificate.text(not_a_number<Real>(), one, one, "here"), NotCertified);
  EXPECT_EQ(certificate.text(not_a_number<Real>(), not_a_number<Real>(), one, "here"), "nan");
}

TEST(Certificate, WritesZeroOnlyFarBelowTheGroupsLargest) {
  const DigitsScope scope(coarse_digits);
  const Certificate certificate(10);
  const Real tiny = power(Real(0.1), 12), small = power(Real(0.1), 9);

  EXPECT_EQ(certificate.text(2 * tiny, tiny, Real(1), "here"), "0");
  EXPECT_THROW(certificate.text(2 * small, small, Real(1), "here"), NotCertified);
  EXPECT_EQ(certificate.text(tiny, tiny, Real(1), "here"), "1e-12");
}

TEST(Precisions, DoubleSixTimesAfterTheFirstPair) {
  EXPECT_EQ(precisions(30), (std::vector<unsigned>{50, 150, 300, 600, 1200, 2400, 4800, 9600}));
}

}  // namespace
}  // namespace tally::oracle
