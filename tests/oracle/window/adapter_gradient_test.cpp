// Gradients behind rotary positions, slices, adapters and frozen layers, against slopes; and turns worked on paper.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "oracle/case/io.hpp"
#include "tests/kernels/adapted_case.hpp"
#include "tests/oracle/window/slopes.hpp"

namespace tally::oracle::adapter_gradient_test {
namespace {

using Wide = long double;

std::vector<Case> all_models() {
  const Decimal base{"3"};
  return {turned_model(5), turned_model(6, {{"pairing", std::string("interleaved")}, {"base", base}}),
          turned_model(7, {{"base", base}}, true), adapted_model(8)};
}

TEST(AdapterGradient, IsTestedOnValidCases) {
  for (const Case& c : all_models())
    for (const CaseError& error : validate(c)) ADD_FAILURE() << error.path << " " << error.found;
}

/// But of a bias of all keys, which moves the scores of a row alike where nothing turns them.
TEST(AdapterGradient, IsTheSlopeOfTheLoss) {
  for (const Case& c : all_models()) {
    std::vector<std::string> parameters = parameters_of(c.model);
    std::erase(parameters, "k.bias");
    expect_slopes(c, parameters);
  }
}

TEST(AdapterGradient, IsOfWhatTrainsAlone) {
  const Case c = adapted_model(9);
  const WindowAnswer<Wide> answer = first_window_of(c);
  for (const char* frozen : {"wte.weight", "n1.weight", "n1.bias", "q.weight", "q.bias"}) {
    EXPECT_FALSE(answer.grad.contains(frozen)) << frozen;
    EXPECT_FALSE(answer.after.slots.contains(frozen)) << frozen;
  }
  EXPECT_TRUE(answer.grad.contains("q_a.weight"));
  Case all = c;
  for (Layer& layer : all.model.layers) layer.trainable = true;
  const WindowAnswer<Wide> other = first_window_of(all);
  for (const auto& [name, gradient] : answer.grad) EXPECT_EQ(gradient, other.grad.at(name)) << name;
}

Matrix<Wide> turned(const Options& options, const Matrix<Wide>& x, const std::vector<Wide>& positions, bool back) {
  Options all = options;
  all.emplace("heads", std::int64_t{1});
  const Layer layer = layer_of("rotary", "turn", all);
  Tensors<Wide> tensors;
  tensors["positions"] = Eigen::Map<const Matrix<Wide>>(positions.data(), std::ssize(positions), 1);
  const auto& rotary = exact_layer<Wide>("rotary");
  return back ? rotary.backward({layer, tensors, {}}, x, x).dx : rotary.forward({layer, tensors, {}}, x).y;
}

/// Base 4 of four features: the second pair turns half as far, 4^(-2/4) = 1/2. At position 1 the angles are 1 and 1/2.
TEST(Rotary, TurnsPairsByTheirFrequency) {
  Matrix<Wide> x(2, 4);
  x << 1, 2, 3, 4, 1, 2, 3, 4;
  const Wide c = std::cos(1.0L), s = std::sin(1.0L), d = std::cos(0.5L), t = std::sin(0.5L);
  const Matrix<Wide> half = turned({{"base", Decimal{"4"}}}, x, {0, 1}, false);
  EXPECT_EQ(half.row(0), x.row(0));
  const auto near = [](Wide a, Wide b) { return std::fabs(a - b) <= 8 * std::numeric_limits<Wide>::epsilon(); };
  EXPECT_TRUE(near(half(1, 0), c - 3 * s) && near(half(1, 2), 3 * c + s)) << half;
  EXPECT_TRUE(near(half(1, 1), 2 * d - 4 * t) && near(half(1, 3), 4 * d + 2 * t)) << half;
  const Matrix<Wide> neighbours =
      turned({{"base", Decimal{"4"}}, {"pairing", std::string("interleaved")}}, x, {0, 1}, false);
  EXPECT_TRUE(near(neighbours(1, 0), c - 2 * s) && near(neighbours(1, 1), 2 * c + s)) << neighbours;
  EXPECT_TRUE(near(neighbours(1, 2), 3 * d - 4 * t) && near(neighbours(1, 3), 4 * d + 3 * t)) << neighbours;
}

TEST(Rotary, LeavesWhatDoesNotTurnAndTurnsBack) {
  Matrix<Wide> x(1, 6);
  x << 1, -2, 3, 5, 7, -11;
  const Options two{{"dimensions", std::int64_t{2}}};
  const Matrix<Wide> y = turned(two, x, {100}, false);
  EXPECT_EQ(y.rightCols(4), x.rightCols(4));
  EXPECT_NE(y.leftCols(2), x.leftCols(2));
  EXPECT_LE((turned(two, y, {100}, true) - x).cwiseAbs().maxCoeff(), 16 * std::numeric_limits<Wide>::epsilon());
}

}  // namespace
}  // namespace tally::oracle::adapter_gradient_test
