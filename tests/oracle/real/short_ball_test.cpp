#include "oracle/real/short_ball.hpp"

#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"
#include "tests/oracle/real/short_balls.hpp"

namespace tally::oracle::short_ball_test {
namespace {

constexpr int samples = 20000;

template <class T>
using Two = T (*)(const T&, const T&);

struct Operation {
  std::string name;
  Two<ShortBall> of_short;
  Two<Ball> of_any;
  double most;  // units off, of points
};

const Operation operations[] = {
    {"sum", [](const ShortBall& x, const ShortBall& y) { return x + y; },
     [](const Ball& x, const Ball& y) { return x + y; }, 2},
    {"difference", [](const ShortBall& x, const ShortBall& y) { return x - y; },
     [](const Ball& x, const Ball& y) { return x - y; }, 2},
    {"product", [](const ShortBall& x, const ShortBall& y) { return x * y; },
     [](const Ball& x, const Ball& y) { return x * y; }, 2},
    {"quotient", [](const ShortBall& x, const ShortBall& y) { return x / y; },
     [](const Ball& x, const Ball& y) { return x / y; }, 3},
    {"larger", [](const ShortBall& x, const ShortBall& y) { return larger(x, y); },
     [](const Ball& x, const Ball& y) { return larger(x, y); }, 0},
    {"smaller", [](const ShortBall& x, const ShortBall& y) { return smaller(x, y); },
     [](const Ball& x, const Ball& y) { return smaller(x, y); }, 0},
};

/// The number itself with a few of its last bits changed, at the same exponent or one beside it.
ShortBall beside(ShortBalls& drawn, ShortBall x) {
  if (x.middle != 0) x.middle = (x.middle ^ static_cast<unsigned>(drawn.between(0, 15))) | ShortBall::top_bit;
  x.exponent += drawn.between(-1, 1);
  x.negative = x.middle != 0 && drawn.between(0, 1) == 1;
  return x;
}

/// Whether the operation was defined for these.
bool expect_held(const Operation& operation, ShortBalls& drawn, const ShortBall& x, const ShortBall& y) {
  const BitsScope bits(known_bits);
  try {
    const ShortBall found = operation.of_short(x, y);
    for (const Ball& a : drawn.within(x))
      for (const Ball& b : drawn.within(y))
        EXPECT_TRUE(holds(found, operation.of_any(a, b)))
            << operation.name << " of " << text_of(x) << " and " << text_of(y) << " is " << text_of(found);
    EXPECT_TRUE(found.middle == 0 || found.middle >= ShortBall::top_bit) << operation.name;
    EXPECT_TRUE(x.radius != 0 || y.radius != 0 || found.radius <= operation.most) << operation.name;
    return true;
  } catch (const Undecided&) {
    return false;
  }
}

TEST(ShortBall, HoldsWhatArbFindsOfEveryOperation) {
  for (const Operation& operation : operations) {
    ShortBalls drawn(7);
    int defined = 0;
    for (int i = 0; i < samples; ++i) {
      const int far = i % 3 == 0 ? 3 : i % 3 == 1 ? 140 : 900;
      const ShortBall x = drawn.ball(-far, far), y = i % 4 == 0 ? beside(drawn, x) : drawn.ball(-far, far);
      defined += expect_held(operation, drawn, x, y) ? 1 : 0;
    }
    EXPECT_GT(2 * defined, samples) << operation.name;
  }
}

/// What no ball could be narrower than: the largest distance from the midpoint of a result at the operands' ends.
TEST(ShortBall, IsAtMostTwiceAsWideAsItMustBe) {
  const BitsScope bits(known_bits);
  for (const Operation& operation : operations) {
    if (operation.name == "larger" || operation.name == "smaller") continue;
    ShortBalls drawn(9);
    for (int i = 0; i < samples; ++i) {
      ShortBall x = drawn.point(-3, 3), y = drawn.point(-3, 3);
      x.radius = std::ldexp(1.5, drawn.between(10, 60));
      y.radius = std::ldexp(1.25, drawn.between(10, 60));
      const ShortBall found = operation.of_short(x, y);
      ShortBall middle = found, radius = found;
      middle.radius = 0;
      Ball needed = 0;
      for (const Ball& a : drawn.within(x))
        for (const Ball& b : drawn.within(y))
          needed = larger(needed, magnitude(operation.of_any(a, b) - enclosing(middle)));
      radius = ShortBall(static_cast<double>(found.radius));
      radius.exponent += found.exponent - 128;
      EXPECT_TRUE(!surely_greater(enclosing(radius), 2 * needed)) << operation.name << ": " << text_of(found);
    }
  }
}

TEST(ShortBall, HoldsTheRootOfWhatIsNotNegative) {
  const BitsScope bits(known_bits);
  ShortBalls drawn(8);
  for (int i = 0; i < samples; ++i) {
    ShortBall x = magnitude(drawn.ball(-300, 300));
    const ShortBall found = sqrt(x);
    for (const Ball& a : drawn.within(x))
      EXPECT_TRUE(surely_greater(0, a) || holds(found, sqrt(a))) << text_of(x) << ": " << text_of(found);
    EXPECT_TRUE(x.radius != 0 || found.radius <= 4) << text_of(found);
  }
  EXPECT_THROW(sqrt(ShortBall(-1)), Undecided);
  EXPECT_TRUE(sqrt(ShortBall(0)).is_zero());
}

TEST(ShortBall, ComparesWhatItCanTell) {
  const BitsScope bits(known_bits);
  ShortBalls drawn(3);
  int decided = 0;
  for (int i = 0; i < samples; ++i) {
    const ShortBall x = drawn.ball(-9, 9), y = i % 2 == 0 ? beside(drawn, x) : drawn.ball(-9, 9);
    try {
      const bool less = x < y, equal = x == y;
      ++decided;
      for (const Ball& a : drawn.within(x))
        for (const Ball& b : drawn.within(y)) {
          EXPECT_EQ(a < b, less) << text_of(x) << " " << text_of(y);
          EXPECT_EQ(a == b, equal) << text_of(x) << " " << text_of(y);
        }
    } catch (const Undecided&) {
      EXPECT_TRUE(x.radius != 0 || y.radius != 0) << text_of(x) << " " << text_of(y);
    }
  }
  EXPECT_GT(2 * decided, samples);
}

TEST(ShortBall, IsExactWhereTheBitsAreEnough) {
  EXPECT_EQ((ShortBall(1) / 4 + 3 * ShortBall(0.125)).radius, 0);
  EXPECT_TRUE(ShortBall(1) / 4 + 3 * ShortBall(0.125) == 0.625);
  EXPECT_TRUE((ShortBall(1) + ShortBall(0x1p-120)) - 1 == 0x1p-120);
  EXPECT_TRUE(ShortBall(7) - 7 == 0);
  EXPECT_EQ(to_integer(ShortBall(-41)), -41);
  EXPECT_EQ(to_integer(ShortBall(std::int64_t{1} << 62)), std::int64_t{1} << 62);
  EXPECT_THROW(to_integer(ShortBall(0.5)), std::logic_error);
  const ShortBall third = ShortBall(1) / 3;
  EXPECT_TRUE((third - third).is_zero());
  EXPECT_THROW((void)(third < ShortBall(1) / 3), Undecided);
}

TEST(ShortBall, ComesBackFromTheLibraryAsItWent) {
  const BitsScope bits(known_bits);
  ShortBalls drawn(4);
  for (int i = 0; i < samples; ++i) {
    const ShortBall x = drawn.ball(-500, 500), back = short_ball(enclosing(x));
    EXPECT_TRUE(back.middle == x.middle && (x.middle == 0 || back.exponent == x.exponent)) << text_of(x);
    EXPECT_TRUE(arb_contains(arb_of(enclosing(back)), arb_of(enclosing(x))) != 0) << text_of(x);
  }
  const Ball third = Ball(1) / 3;
  EXPECT_TRUE(holds(short_ball(third), third));
  EXPECT_LT(short_ball(third).radius, 2);
}

TEST(ShortBall, RefusesWhatIsNotFiniteAndWhatHasNoExponent) {
  EXPECT_THROW(ShortBall(std::nan("")), Undecided);
  EXPECT_THROW(ShortBall{HUGE_VAL}, Undecided);
  EXPECT_THROW(ShortBall(1) / ShortBall(0), Undecided);
  EXPECT_THROW(not_a_number<ShortBall>(), Undecided);
  ShortBall far = 2, small = 0.5;
  for (int i = 0; i < 27; ++i) far *= far, small *= small;
  EXPECT_THROW(for (int i = 0; i < 3; ++i) far *= far, Undecided);
  for (int i = 0; i < 3; ++i) small *= small;
  EXPECT_TRUE(small.middle == 0 && !small.is_zero());
  EXPECT_FALSE(surely_greater(small, 0));
}

TEST(ShortBall, NamesRowAndColumnOfAnElementThatIsNotFinite) {
  Tensor tensor(Dtype::fp32, {2, 3});
  tensor.set(4, HUGE_VAL);
  try {
    lift<ShortBall>(tensor);
    FAIL();
  } catch (const Undecided& open) {
    EXPECT_STREQ(open.what(), "row 1, column 1 is not finite; balls of fixed size hold finite numbers only");
  }
}

}  // namespace
}  // namespace tally::oracle::short_ball_test
