#include <gtest/gtest.h>

#include "oracle/exact/answer.hpp"
#include "oracle/real/short_ball.hpp"

namespace tally::oracle::certificate_test {
namespace {

constexpr unsigned bits = 200;

/// 1e-n, not exactly.
Ball tenth(unsigned n) { return 1 / power(Ball(10), n); }
/// Zero, as far as anyone can tell, but no point.
Ball hidden_zero() { return Ball(1) / 3 * 3 - 1; }

TEST(Certificate, WritesTheDigitsThatAreCertain) {
  const BitsScope scope(bits);
  const Certificate certificate(10);

  EXPECT_EQ(certificate.text(tenth(12), Ball(1), "here"), "1e-12");
  EXPECT_EQ(certificate.text(Ball(0), Ball(0), "here"), "0");
}

TEST(Certificate, WritesZeroForWhatMayBeZeroFarBelowTheGroupsLargest) {
  const BitsScope scope(bits);
  const Certificate certificate(10);

  EXPECT_EQ(certificate.text(hidden_zero(), Ball(1), "here"), "0");
  EXPECT_THROW(certificate.text(hidden_zero(), tenth(55), "here"), Undecided);
  EXPECT_THROW(certificate.text(hidden_zero(), hidden_zero(), "here"), Undecided);
}

/// `middle` and all that is less than 2^-100 from it.
Ball around(double middle) { return enclosing(ShortBall(middle) + ShortBall(0, 1, 28, false, false)); }

TEST(Certificate, RoundsWhereTheWholeBallRoundsAlike) {
  const BitsScope scope(bits);
  const Certificate near(2), rounded(2, Certain::rounded);

  for (const double middle : {1.23, -1.23, 1e6, 0.124})
    EXPECT_EQ(rounded.text(around(middle), 0, "here"), near.text(around(middle), 0, "here"));
  EXPECT_EQ(near.text(around(0.125), 0, "here"), "0.12");
  EXPECT_THROW(rounded.text(around(0.125), 0, "here"), Undecided);
  EXPECT_EQ(rounded.text(Ball(0.125), 0, "here"), "0.12");
}

TEST(Certificate, RoundsToZeroOnlyWhatIsZero) {
  const BitsScope scope(bits);
  const Certificate rounded(10, Certain::rounded);

  EXPECT_EQ(rounded.text(Ball(0), Ball(1), "here"), "0");
  EXPECT_THROW(rounded.text(hidden_zero(), Ball(1), "here"), Undecided);
}

TEST(Certificate, NamesThePlaceThatIsOpen) {
  const BitsScope scope(bits);
  try {
    Certificate(10).text(hidden_zero(), hidden_zero(), "full_batch[0].loss");
    FAIL() << "certified";
  } catch (const Undecided& open) {
    EXPECT_TRUE(std::string(open.what()).starts_with("full_batch[0].loss: ")) << open.what();
  }
}

TEST(EvaluateUntilDecided, RaisesThePrecisionAndGivesUpInTheEnd) {
  std::vector<unsigned> tried;
  evaluate_until_decided({10, 20, 40}, [&] {
    tried.push_back(ball_bits());
    if (ball_bits() < 20) throw Undecided("open");
  });
  EXPECT_EQ(tried, (std::vector<unsigned>{10, 20}));

  EXPECT_THROW(evaluate_until_decided({10, 20}, [] { throw Undecided("open"); }), NotCertified);
}

TEST(EvaluateUntilDecided, AsksLargerBallsOnlyForWhatThoseOfFixedSizeLeaveOpen) {
  int asked = 0;
  evaluate_until_decided([] {}, {10}, [&] { ++asked; });
  EXPECT_EQ(asked, 0);

  evaluate_until_decided([] { throw Undecided("open"); }, {10}, [&] { ++asked; });
  EXPECT_EQ(asked, 1);
}

TEST(Precisions, DoubleSevenTimes) {
  EXPECT_EQ(precisions(30), (std::vector<unsigned>{167, 334, 668, 1336, 2672, 5344, 10688, 21376}));
}

}  // namespace
}  // namespace tally::oracle::certificate_test
