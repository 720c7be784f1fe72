#include "oracle/exact/answer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "oracle/case/io.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/real/number.hpp"
#include "oracle/real/real.hpp"
#include "tests/oracle/real/second_route.hpp"
#include "tests/oracle/window/net.hpp"

namespace tally::oracle::answer_test {
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

/// Every text of `few` is the number of `many` rounded.
void expect_rounded(const Json& few, const Json& many, unsigned digits) {
  if (few.is_structured()) {
    ASSERT_EQ(few.size(), many.size());
    for (auto a = few.begin(), b = many.begin(); a != few.end(); ++a, ++b) expect_rounded(*a, *b, digits);
  } else if (few.is_string()) {
    EXPECT_EQ(few.get<std::string>(), decimal_text(read(many), digits)) << many;
  }
}

/// Sixty digits are Arb's, fewer than thirty those of balls of fixed size.
TEST(Answer, HasTheSameDigitsFromBallsOfFixedSize) {
  const DigitsScope scope(coarse_digits);
  for (const char* activation : {"relu", "tanh", "gelu", "sigmoid"}) {
    const Case c = with_momentum(case_of({12, 20, 5, 9, activation, "cross_entropy"}));
    const Json exact = answered(c, 60);
    EXPECT_FALSE(exact.empty());
    for (const unsigned digits : {3u, 17u, 25u}) expect_rounded(answered(c, digits), exact, digits);
  }
}

/// All numbers of a trajectory in one list.
std::vector<Ball> numbers_of(const std::vector<WindowAnswer<Ball>>& answers) {
  std::vector<Ball> all;
  const auto take = [&](const Tensors<Ball>& tensors) {
    for (const auto& [name, tensor] : tensors) all.insert(all.end(), tensor.data(), tensor.data() + tensor.size());
  };
  for (const auto& answer : answers) {
    for (const Ball& one : {answer.loss, answer.loss_scale, answer.learning_rate, answer.grad_norm,
                            answer.clip_coefficient, answer.after.scale.scale})
      all.push_back(one);
    take(answer.grad), take(answer.after.running_mean), take(answer.after.running_var);
    for (const auto& [name, slot] : answer.after.slots) {
      take({{name, slot.parameter}});
      for (const Matrix<Ball>& each : slot.state) take({{name, each}});
    }
  }
  return all;
}

TEST(ShortTrajectory, IsTheTrajectoryOfArb) {
  Case c = with_momentum(case_of({6, 8, 5, 9, "tanh", "cross_entropy", "batch_norm"}));
  c.windows = {{3, 2}, {4}};
  const BitsScope bits(300);
  for (const Branch branch : {Branch::full_batch, Branch::accumulated}) {
    const auto found = short_trajectory(c, branch), exact = trajectory<Ball>(c, branch);
    const std::vector<Ball> few = numbers_of(found), many = numbers_of(exact);
    ASSERT_EQ(few.size(), many.size());
    for (std::size_t i = 0; i < few.size(); ++i) EXPECT_TRUE(may_be_zero(few[i] - many[i])) << i;
    EXPECT_EQ(found.back().after.step, exact.back().after.step);
    EXPECT_EQ(found.back().after.scale.growth_counter, exact.back().after.scale.growth_counter);
  }
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

/// 1-1-1-2-1, everything that x does lost beside a bias of 1 until 504 bits are held: y = 2^-504.
Case cancelling_case() {
  Case c = small_case({{1}}, "window");
  const auto linear = [](std::int64_t out, bool bias, const char* name) {
    return Layer{{"linear", {{"out", out}, {"bias", bias}}}, name};
  };
  c.model.input = 1;
  c.model.layers = {linear(1, false, "a"), linear(1, false, "b"), linear(2, true, "c"), linear(1, false, "d")};
  c.model.loss = {"mse", {{"item_weights", false}}};
  const auto held = [](std::vector<double> values, std::vector<std::int64_t> shape) {
    return stored(Eigen::Map<Matrix<double>>(values.data(), 1, static_cast<Eigen::Index>(values.size())),
                  std::move(shape));
  };
  const double tiny = 0x1p-126;
  c.tensors = {{"x", held({tiny}, {1, 1})},           {"target", held({0}, {1, 1})},
               {"a.weight", held({tiny}, {1, 1})},    {"b.weight", held({tiny}, {1, 1})},
               {"c.weight", held({tiny, 0}, {2, 1})}, {"c.bias", held({1, 1}, {2})},
               {"d.weight", held({1, -1}, {1, 2})}};
  return c;
}

TEST(Answer, FindsWhatTwoPrecisionsBothLose) {
  const Case c = cancelling_case();
  for (const unsigned digits : {1u, 5u, 30u, 60u}) {
    const Json window = answered(c, digits)["full_batch"][0];
    const DigitsScope scope(coarse_digits);
    const Real unit = power(Real(0.1), digits) * 10, loss = power(Real(0.5), 1008), gradient = power(Real(0.5), 503);
    EXPECT_LE(magnitude(read(window["loss"]) - loss), unit * loss) << digits;
    EXPECT_LE(magnitude(read(window["grad"]["d.weight"]["data"][0]) - gradient), unit * gradient) << digits;
    EXPECT_LE(magnitude(read(window["grad"]["d.weight"]["data"][1]) - gradient), unit * gradient) << digits;
  }
}

TEST(Answer, NamesThePlaceWhereNoPrecisionDecides) {
  Case c = small_case({{2}}, "window");
  c.model.layers[1] = {{"relu", {}}, ""};  // relu of what is x - x, with no point in between
  c.model.layers.erase(c.model.layers.begin() + 2, c.model.layers.begin() + 4);
  c.model.layers.insert(c.model.layers.begin(), Layer{{"tanh", {}}, ""});
  c.tensors.at("fc1.bias") = stored(Matrix<double>::Zero(1, 4), {4});
  for (std::size_t i = 0; i < 12; ++i) c.tensors.at("fc1.weight").set(i, i == 0 ? 1 : i == 1 ? -1 : i % 3 == 0);
  c.tensors.at("x").set(1, c.tensors.at("x").value(0));
  try {
    answer(c, 5);
    FAIL() << "answered";
  } catch (const NotCertified& refused) {
    EXPECT_NE(std::string(refused.what()).find("full_batch[0]: forward of relu#2"), std::string::npos)
        << refused.what();
  }
}

}  // namespace
}  // namespace tally::oracle::answer_test
