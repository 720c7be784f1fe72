// Gradients and whole trajectories in balls of fixed size against Arb at 600 bits.
#include <arb.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/fixed_point/product.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/product.hpp"
#include "tests/oracle/case/case_files.hpp"
#include "tests/oracle/window/net.hpp"

namespace tally::oracle::short_gradient_test {
namespace {

constexpr unsigned known_bits = 600;

bool holds(const ShortBall& found, const Ball& exact) {
  const Ball around = enclosing(found);
  return arb_contains(static_cast<arb_srcptr>(around.storage()), static_cast<arb_srcptr>(exact.storage())) != 0;
}

void expect_held(const std::string& what, const Matrix<ShortBall>& found, const Matrix<Ball>& exact) {
  ASSERT_EQ(found.rows(), exact.rows()) << what;
  ASSERT_EQ(found.cols(), exact.cols()) << what;
  for (Eigen::Index i = 0; i < found.size(); ++i)
    EXPECT_TRUE(holds(found(i), exact(i)))
        << what << "[" << i << "]: " << shown(enclosing(found(i))) << " without " << shown(exact(i));
}

void expect_held(const Tensors<ShortBall>& found, const Tensors<Ball>& exact) {
  ASSERT_EQ(found.size(), exact.size());
  for (const auto& [name, tensor] : found) expect_held(name, tensor, exact.at(name));
}

void expect_held(const std::vector<WindowAnswer<ShortBall>>& found, const std::vector<WindowAnswer<Ball>>& exact) {
  ASSERT_EQ(found.size(), exact.size());
  for (std::size_t w = 0; w < found.size(); ++w) {
    const auto& a = found[w];
    const auto& b = exact[w];
    EXPECT_TRUE(holds(a.loss, b.loss) && holds(a.loss_scale, b.loss_scale) && holds(a.grad_norm, b.grad_norm));
    EXPECT_TRUE(holds(a.learning_rate, b.learning_rate) && holds(a.clip_coefficient, b.clip_coefficient));
    expect_held(a.grad, b.grad);
    expect_held(a.after.running_mean, b.after.running_mean);
    expect_held(a.after.running_var, b.after.running_var);
    for (const auto& [name, slot] : a.after.slots) {
      const Slot<Ball>& other = b.after.slots.at(name);
      expect_held(name, slot.parameter, other.parameter);
      for (std::size_t i = 0; i < slot.state.size(); ++i) expect_held(name, slot.state[i], other.state[i]);
    }
  }
}

/// Both branches, every number of every window.
void expect_trajectory_held(const Case& c) {
  const BitsScope bits(known_bits);
  for (const Branch branch : {Branch::full_batch, Branch::accumulated})
    expect_held(trajectory<ShortBall>(c, branch), trajectory<Ball>(c, branch));
}

const Net small{12, 20, 5, 9, "relu", "cross_entropy"};

Net with(Net net, const std::string& activation, const std::string& loss, const std::string& norm) {
  net.activation = activation;
  net.loss = loss;
  net.norm = norm;
  return net;
}

TEST(ShortGradient, HoldsWhatArbFindsForEveryLayerNormAndLoss) {
  for (const char* norm : {"", "batch_norm", "layer_norm"})
    for (const char* activation : {"relu", "gelu", "gelu_tanh", "tanh", "sigmoid", "silu", "dropout"})
      for (const char* loss : {"mse", "cross_entropy"}) {
        SCOPED_TRACE(std::string(norm) + " " + activation + " " + loss);
        expect_trajectory_held(case_of(with(small, activation, loss, norm)));
      }
}

Case two_windows() {
  Case c = case_of(with(small, "tanh", "cross_entropy", "batch_norm"));
  c.windows = {{3, 2}, {1, 3}};
  c.model.layers[1].options["statistics"] = std::string("micro_batch");
  c.windows[1] = {2, 2};
  return c;
}

Choice optimizer(const std::string& kind) {
  if (kind == "adam") return {kind, {{"beta1", Decimal{"0.9"}}, {"beta2", Decimal{"0.999"}}, {"eps", Decimal{"1e-8"}}}};
  if (kind == "lion") return {kind, {{"beta1", Decimal{"0.9"}}, {"beta2", Decimal{"0.99"}}}};
  if (kind == "rmsprop")
    return {kind, {{"alpha", Decimal{"0.99"}}, {"eps", Decimal{"1e-8"}}, {"momentum", Decimal{"0.5"}}}};
  return {"sgd", {{"momentum", Decimal{"0.9"}}, {"dampening", Decimal{"0"}}, {"nesterov", kind == "nesterov"}}};
}

TEST(ShortGradient, HoldsWhatArbFindsForEveryOptimizerClipDecayAndSchedule) {
  const Decimal third{"0.3"};
  const std::vector<std::string> none;
  for (const char* kind : {"sgd", "nesterov", "adam", "rmsprop"}) {
    for (const char* norm : {"1", "2", "inf"}) {
      SCOPED_TRACE(std::string(kind) + " " + norm);
      Case c = two_windows();
      c.recipe.optimizer = optimizer(kind);
      c.recipe.clip = {"global_norm", {{"max_norm", third}, {"norm", std::string(norm)}, {"epsilon", Decimal{"1e-6"}}}};
      c.recipe.weight_decay = {norm[0] == '1' ? "l2" : "decoupled", {{"lambda", third}, {"exclude", none}}};
      c.recipe.learning_rate = {
          "warmup_cosine",
          {{"base", third}, {"warmup", std::int64_t{1}}, {"total", std::int64_t{5}}, {"floor", Decimal{"0.01"}}}};
      expect_trajectory_held(c);
    }
  }
}

/// lion asks for the sign of a momentum that is 0 for the bias before a norm: without one it is decided.
TEST(ShortGradient, HoldsWhatArbFindsForLionAndForClippedValues) {
  Case c = case_of(with(small, "tanh", "cross_entropy", ""));
  c.windows = {{3, 2}, {4}};
  c.recipe.optimizer = optimizer("lion");
  c.recipe.clip = {"value", {{"max_value", Decimal{"0.01"}}}};
  c.recipe.learning_rate = {"step", {{"base", Decimal{"0.3"}}, {"every", std::int64_t{1}}, {"factor", Decimal{"0.5"}}}};

  expect_trajectory_held(c);
}

/// What is left open in balls of fixed size is said, and Arb decides it.
TEST(ShortGradient, HoldsWhatArbFindsInTheValidCases) {
  int decided = 0, all = 0;
  for (const auto& file : tests::json_files(tests::case_folder / "valid")) {
    SCOPED_TRACE(file.filename().string());
    const Case c = read_case(tests::text_of(file), tests::case_folder / "valid");
    if (is_opaque(c.model)) continue;
    ++all;
    try {
      expect_trajectory_held(c);
      ++decided;
    } catch (const Undecided& open) {
      std::cout << file.filename().string() << ": " << open.what() << "\n";
    }
  }
  EXPECT_GT(2 * decided, all);
}

/// x and dy of every layer, in long double.
struct Walk {
  std::vector<Matrix<long double>> x, dy;

  explicit Walk(const Case& c) {
    using Wide = long double;
    const WindowRows<Wide> rows = window_rows<Wide>(c, 0, Branch::full_batch);
    const State<Wide> state = initial_state<Wide>(c);
    std::vector<Tensors<Wide>> tensors;
    Matrix<Wide> y = rows.x;
    for (const Layer& layer : c.model.layers) {
      tensors.emplace_back();
      for (const char* name : {"weight", "bias"})
        if (const auto slot = state.slots.find(layer.name + "." + name); slot != state.slots.end())
          tensors.back()[name] = slot->second.parameter;
      x.push_back(y);
      y = exact_layer<Wide>(layer.kind).forward({layer, tensors.back(), rows.cut}, x.back()).y;
    }
    dy.resize(x.size());
    Matrix<Wide> d = exact_loss<Wide>(c.model.loss.kind)
                         .evaluate(c.model.loss, y, rows.target, rows.item_weight, rows.row_factor)
                         .dy;
    for (std::size_t i = x.size(); i-- > 0;) {
      dy[i] = d;
      const Layer& layer = c.model.layers[i];
      d = exact_layer<Wide>(layer.kind).backward({layer, tensors[i], rows.cut}, x[i], dy[i]).dx;
    }
  }
};

/// The sums |dy|' |x| of a linear layer's weight, those of |dy| for everything else.
Tensors<long double> scales(const Case& c) {
  const Walk walk(c);
  Tensors<long double> result;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    if (layer.name.empty()) continue;
    const Matrix<long double> dy = walk.dy[i].cwiseAbs(), x = walk.x[i].cwiseAbs();
    result[layer.name + ".bias"] = dy.colwise().sum();
    result[layer.name + ".weight"] =
        layer.kind == "linear" ? Matrix<long double>(dy.transpose() * x) : result[layer.name + ".bias"];
  }
  return result;
}

WindowGradient<ShortBall> gradient_of(const Case& c) {
  return window_gradient(c, window_rows<ShortBall>(c, 0, Branch::full_batch), initial_state<ShortBall>(c), {});
}

/// The midpoints of all are right to 113 bits of the scale; how many are certain is fewer with every layer on the way
/// (oracle/short_ball.md).
constexpr int right_bits = 113;
struct Certain {
  Net net;
  int bits;
};
void PrintTo(const Certain& certain, std::ostream* out) {
  *out << certain.net.activation << " " << certain.net.norm << " " << certain.net.loss;
}

class ShortGradientOf : public testing::TestWithParam<Certain> {};
INSTANTIATE_TEST_SUITE_P(Nets, ShortGradientOf,
                         testing::Values(Certain{{100, 500, 10, 64, "relu", "mse"}, 113},
                                         Certain{{100, 500, 10, 64, "relu", "cross_entropy"}, 108},
                                         Certain{{100, 500, 10, 64, "tanh", "mse"}, 113},
                                         Certain{{100, 500, 10, 64, "relu", "cross_entropy", "batch_norm"}, 104},
                                         Certain{{60, 90, 10, 200, "gelu", "cross_entropy", "layer_norm"}, 104}));

TEST_P(ShortGradientOf, IsRightToTheBitsThatAreSaid) {
  const BitsScope bits(known_bits);
  const Case c = case_of(GetParam().net);
  const Tensors<long double> scale = scales(c);
  const auto exact =
      window_gradient(c, window_rows<Ball>(c, 0, Branch::full_batch), initial_state<Ball>(c), {}).gradient;
  const auto gradient = gradient_of(c).gradient;
  ASSERT_FALSE(gradient.empty());
  for (const auto& [name, tensor] : gradient) {
    expect_held(name, tensor, exact.at(name));
    for (Eigen::Index i = 0; i < tensor.size(); ++i) {
      const long double certain = std::ldexp(static_cast<long double>(tensor(i).radius), tensor(i).exponent - 128);
      EXPECT_LE(certain, std::ldexp(scale.at(name)(i), -GetParam().bits)) << name << "[" << i << "]";
      ShortBall middle = tensor(i);
      middle.radius = 0;
      const Nearest off = nearest(enclosing(middle) - exact.at(name)(i));
      EXPECT_LE(std::fabs(off.value) + off.off, std::ldexp(scale.at(name)(i), -right_bits)) << name << "[" << i << "]";
    }
  }
}

bool same(const ShortBall& x, const ShortBall& y) {
  return x.middle == y.middle && x.radius == y.radius && x.exponent == y.exponent && x.negative == y.negative;
}

TEST(ShortGradient, HasTheSameBitsByEveryRouteCutAndNumberOfThreads) {
  using fixed::Route;
  const Case c = case_of({40, 70, 10, 33, "tanh", "cross_entropy", "batch_norm"});
  const auto expected = gradient_of(c).gradient;
  for (const Route route : {Route::exact, Route::ifma, Route::blas}) {
    if (!fixed::available(route)) continue;
    for (const fixed::Schedule& schedule : {fixed::Schedule{}, {2, 16, 24, 7}, {3, 1, 5, 64}}) {
      const fixed::ProductsScope scope(route, schedule);
      const auto gradient = gradient_of(c).gradient;
      ASSERT_FALSE(gradient.empty());
      for (const auto& [name, tensor] : gradient)
        for (Eigen::Index i = 0; i < tensor.size(); ++i)
          EXPECT_TRUE(same(tensor(i), expected.at(name)(i))) << name << "[" << i << "], threads " << schedule.threads;
    }
  }
}

TEST(ShortGradient, OfALargeBatchHasTheSameBitsByTwoThreads) {
  const Case c = case_of({784, 512, 10, 4096, "relu", "cross_entropy"});
  const auto expected = gradient_of(c).gradient;
  const fixed::ProductsScope scope(fixed::fastest_route(), {.threads = 2});
  const auto gradient = gradient_of(c).gradient;
  ASSERT_FALSE(gradient.empty());
  for (const auto& [name, tensor] : gradient) {
    Eigen::Index differing = 0;
    for (Eigen::Index i = 0; i < tensor.size(); ++i) differing += !same(tensor(i), expected.at(name)(i));
    EXPECT_EQ(differing, 0) << name;
  }
}

TEST(ShortGradient, NamesTheTensorRowAndColumnThatIsNotFinite) {
  Case c = case_of(small);
  c.tensors.at("fc1.weight").set(15, HUGE_VAL);
  try {
    gradient_of(c);
    FAIL();
  } catch (const Undecided& open) {
    EXPECT_STREQ(open.what(),
                 "fc1.weight: row 1, column 3 is not finite; balls of fixed size hold finite numbers only");
  }
}

}  // namespace
}  // namespace tally::oracle::short_gradient_test
