#include "oracle/real/functions.hpp"
#include "tests/oracle/real/short_balls.hpp"

namespace tally::oracle::short_ball_functions_test {
namespace {

template <class T>
using One = T (*)(const T&);

struct Function {
  std::string name;
  One<ShortBall> of_short;
  One<Ball> of_any;
  std::int32_t least, most;  // exponents of the arguments
  double units;              // off at most, of points (oracle/short_ball.md)
};

template <class T>
T slope_of_tanh(const T& x) {
  return over_cosh_squared(T(3), x);
}

const Function functions[] = {
    {"exp", exp, exp, -140, 12, 13},       {"exp_of_large", exp, exp, 3, 27, 13},
    {"tanh", tanh, tanh, -300, 8, 120},    {"tanh_of_small", tanh, tanh, -9, -3, 9},
    {"cosh", cosh, cosh, -140, 12, 30},    {"slope_of_tanh", slope_of_tanh, slope_of_tanh, -140, 12, 45},
    {"log1p", log1p, log1p, -200, 4, 200}, {"log1p_of_large", log1p, log1p, 1, 300, 40},
    {"cos", cos, cos, -20, 8, 2},          {"erf", erf, erf, -50, 4, 2},
    {"erfc", erfc, erfc, -50, 5, 2},
};

/// Arguments for which the function is defined on the whole ball.
bool in_domain(const Function& function, const Ball& x) {
  return function.of_any != static_cast<One<Ball>>(log1p) || surely_greater(x, -1);
}

class ShortBallFunctions : public testing::TestWithParam<Function> {};
INSTANTIATE_TEST_SUITE_P(All, ShortBallFunctions, testing::ValuesIn(functions),
                         [](const auto& each) { return each.param.name; });

constexpr int samples = 4000;

TEST_P(ShortBallFunctions, HoldWhatArbFinds) {
  const BitsScope bits(400);
  const Function& function = GetParam();
  ShortBalls drawn(6);
  int decided = 0;
  for (int i = 0; i < samples; ++i) {
    const ShortBall x = drawn.ball(function.least, function.most);
    ShortBall found = 0;
    try {
      found = function.of_short(x);
    } catch (const Undecided&) {
      continue;
    }
    ++decided;
    for (const Ball& a : drawn.within(x))
      EXPECT_TRUE(!in_domain(function, a) || holds(found, function.of_any(a)))
          << function.name << " of " << text_of(x) << " is " << text_of(found);
    EXPECT_TRUE(found.middle == 0 || found.middle >= ShortBall::top_bit) << function.name;
  }
  EXPECT_GT(4 * decided, samples) << function.name;  // half of them may lie outside
}

/// Where the error is largest there are few arguments: more of them, all points, and how far off the midpoints are.
TEST_P(ShortBallFunctions, AreOffByAFewUnitsOfPoints) {
  const BitsScope bits(400);
  const Function& function = GetParam();
  ShortBalls drawn(16);
  int held = 0;
  for (int i = 0; i < samples; ++i) {
    const ShortBall x = drawn.point(function.least, function.most);
    if (!in_domain(function, enclosing(x))) continue;
    ShortBall found = function.of_short(x);
    if (found.middle == 0) continue;  // below every exponent
    EXPECT_LE(found.radius, function.units) << function.name << " of " << text_of(x) << " is " << text_of(found);
    EXPECT_TRUE(holds(found, function.of_any(enclosing(x)))) << function.name << " of " << text_of(x);
    ++held;
  }
  EXPECT_GT(held, 0) << function.name;
}

/// Of a wide ball the radius is at most four times what the slope at its midpoint asks for, where that is not 0.
TEST_P(ShortBallFunctions, AreNotMuchWiderThanTheirSlopeAsks) {
  const BitsScope bits(400);
  const Function& function = GetParam();
  ShortBalls drawn(26);
  int held = 0;
  for (int i = 0; i < samples; ++i) {
    ShortBall x = drawn.point(-8, 2);
    const bool flat_at_0 = function.name == "cosh" || function.name == "slope_of_tanh";  // and a little beyond
    const bool flat = function.name == "cos" || (flat_at_0 && x.exponent < 1);
    if (flat || !in_domain(function, enclosing(x) * 2)) continue;
    x.radius = 0x1p50;
    const ShortBall found = function.of_short(x);
    ShortBall middle = found;
    middle.radius = 0;
    Ball needed = 0;
    for (const Ball& a : drawn.within(x)) needed = larger(needed, magnitude(function.of_any(a) - enclosing(middle)));
    ShortBall radius = ShortBall(static_cast<double>(found.radius));
    radius.exponent += found.exponent - 128;
    ShortBall unit = 1000;
    unit.exponent += found.exponent - 128;
    ++held;
    EXPECT_FALSE(surely_greater(enclosing(radius), 4 * needed + enclosing(unit)))
        << function.name << " of " << text_of(x) << " is " << text_of(found);
  }
  EXPECT_EQ(held > 0, function.name != "cos") << function.name;  // which is flat all over
}

TEST(ShortBallFunction, ValuesThatAreExact) {
  EXPECT_TRUE(exp(ShortBall(0)) == 1);
  EXPECT_TRUE(cosh(ShortBall(0)) == 1);
  EXPECT_TRUE(tanh(ShortBall(0)).is_zero());
  EXPECT_TRUE(log1p(ShortBall(0)).is_zero());
  EXPECT_TRUE(power(ShortBall(3), 4) == 81);
  EXPECT_TRUE(power(ShortBall(3), 0) == 1);
}

TEST(ShortBallFunction, PiIsInItsBall) {
  const BitsScope bits(400);

  EXPECT_TRUE(holds(pi<ShortBall>(), pi<Ball>()));
  EXPECT_LT(pi<ShortBall>().radius, 2);
}

}  // namespace
}  // namespace tally::oracle::short_ball_functions_test
