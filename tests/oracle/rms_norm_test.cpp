// RMS norm of the oracle, on paper and against slopes.
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/exact/trajectory.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::oracle::rms_norm_test {
namespace {

using Wide = long double;

/// A window of two rows, (-1, 1) and (1, 1), normalised with eps 3, so that rstd is 1/2; under mse, summed.
Case normed_case(const char* offset, bool affine = true) {
  Case c = small_case();
  c.model.input = 2;
  c.model.layers = {
      layer_of("linear", "fc", {{"out", std::int64_t{2}}, {"bias", false}}),
      layer_of("rms_norm", "n", {{"eps", Decimal{"3"}}, {"offset", Decimal{offset}}, {"affine", affine}})};
  c.model.loss = choice_of("loss", "mse");
  c.windows = {{2}};
  c.normalisation = Normalisation::sum;
  c.tensors.clear();
  fill_tensors(c);
  const double x[] = {-1, 1, 1, 1}, weight[] = {1, 0, 0, 1}, scale[] = {2, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    c.tensors["x"].set(i, x[i]);
    c.tensors["fc.weight"].set(i, weight[i]);
    c.tensors["target"].set(i, 0);
  }
  for (std::size_t i = 0; i < 2 && affine; ++i) c.tensors["n.weight"].set(i, scale[i]);
  return c;
}

WindowAnswer<Wide> answer_of(const Case& c) {
  return evaluate_window<Wide>(c, 0, Branch::accumulated, initial_state<Wide>(c));
}

std::vector<Wide> gradient(const WindowAnswer<Wide>& answer, const char* parameter) {
  const Matrix<Wide>& found = answer.grad.at(parameter);
  return {found.data(), found.data() + found.size()};
}

/// y = x w / 2 = (-1, 2), (1, 2), and dy = y, as the mean is over two features. dw sums dy h, h = x / 2: (1/2 + 1/2,
/// 1 + 1).
TEST(RmsNorm, OnPaper) {
  const WindowAnswer<Wide> answer = answer_of(normed_case("0"));

  EXPECT_EQ(gradient(answer, "n.weight"), (std::vector<Wide>{1, 2}));
}

/// g = dy w = (-2, 8) and (2, 8); the mean of g h is (1 + 4) / 2 for both; dx = (g - 5/2 h) / 2 = (-3/8, 27/8) and
/// (3/8, 27/8). fc's weights take dx of both rows times x: row 0 (3/8 + 3/8, 0), row 1 (0, 27/4).
TEST(RmsNorm, HandsItsGradientOnOnPaper) {
  const WindowAnswer<Wide> answer = answer_of(normed_case("0"));

  EXPECT_EQ(gradient(answer, "fc.weight"), (std::vector<Wide>{0.75L, 0, 0, 6.75L}));
}

/// The offset is added to the weight: 1 + (1, 3) is (2, 4). Without weights it is not read.
TEST(RmsNorm, AddsTheOffsetToTheWeight) {
  Case c = normed_case("1");
  c.tensors["n.weight"].set(0, 1);
  c.tensors["n.weight"].set(1, 3);

  EXPECT_EQ(answer_of(c).grad.at("fc.weight"), answer_of(normed_case("0")).grad.at("fc.weight"));
  EXPECT_EQ(answer_of(normed_case("1", false)).grad.at("fc.weight"),
            answer_of(normed_case("0", false)).grad.at("fc.weight"));
}

TEST(RmsNorm, IsTheSlopeOfTheLoss) {
  for (const char* offset : {"0", "1"}) {
    Case c = normed_case(offset);
    c.tensors["x"].set(0, -0.75);
    const WindowAnswer<Wide> answer = answer_of(c);
    for (const char* parameter : {"fc.weight", "n.weight"}) {
      Wide largest = 0;
      for (const Wide slope : gradient(answer, parameter)) largest = std::max(largest, std::fabs(slope));
      for (std::size_t i = 0; i < c.tensors.at(parameter).elements(); ++i) {
        constexpr double step = 0x1p-12;
        const double at = c.tensors.at(parameter).value(i);
        const auto loss_at = [&](double value) {
          c.tensors.at(parameter).set(i, value);
          return answer_of(c).loss * 2;  // the sum over both rows, as the gradient is
        };
        const Wide difference = (loss_at(at + step) - loss_at(at - step)) / (2 * step);
        c.tensors.at(parameter).set(i, at);
        EXPECT_LE(std::fabs(difference - gradient(answer, parameter)[i]), step * largest) << parameter << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tally::oracle::rms_norm_test
