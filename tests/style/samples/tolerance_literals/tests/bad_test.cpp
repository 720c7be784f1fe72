EXPECT_NEAR(a, b, c);
EXPECT_FLOAT_EQ(a, b);
EXPECT_LE(error, 1e-6);
if (error <= 1e-12) return;
EXPECT_TRUE(1e-7 > error);
EXPECT_TRUE(a.isApprox(b));
const double tolerance = 0.5;
EXPECT_THAT(a, DoubleNear(b, c));
// error <= 1e-6 in a comment
EXPECT_LE(error, bound);
EXPECT_EQ(value, 1e-6);
EXPECT_LE(error, 4 * 0x1p-24);  // a unit roundoff, exact
ASSERT_NEAR(a, b, c);
ASSERT_DOUBLE_EQ(a, b);
EXPECT_THAT(a, FloatEq(b));
EXPECT_THAT(a, NanSensitiveDoubleEq(b));
EXPECT_TRUE(a.isMuchSmallerThan(b));
ASSERT_GT(bound, 2.5e-3);
const float TOLERANCE{.5};
const double gradient_tolerance = 0.1;
