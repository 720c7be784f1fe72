// Every gradient of every registered layer and loss, with every option of its contract, against central differences of
// its forward in proven enclosures. Nothing here knows a formula or a kind.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "oracle/exact/exact.hpp"
#include "oracle/real/ball.hpp"
#include "tests/oracle/layers/contract_choices.hpp"
#include "tests/oracle/real/drawn.hpp"

namespace tally::oracle::registered_derivatives_test {
namespace {

constexpr Eigen::Index rows = 5, features = 3;
/// A difference over 2h is off by h² f'''/6: 2^-600 of a third derivative. What is lost in f(h) - f(-h), 300 bits,
/// leaves 2^-1700.
constexpr unsigned bits = 2000;
constexpr int step_bits = 300;
constexpr unsigned digits_that_agree = 100;

using Function = std::function<Ball(const Ball& offset)>;

Ball difference(const Function& f, const Ball& h) { return (f(h) - f(-h)) / (2 * h); }

/// With D(h) = f' + c h² + O(h⁴), D(2h) - D(h) is three times what D(h) is off by, up to h² of itself. It must be small
/// beside the largest gradient, so that the check says something.
void expect_derivative(const Ball& gradient, const Function& f, const Ball& largest, const std::string& what) {
  const Ball h = power(Ball(0.5), step_bits);
  const Ball near = difference(f, h), off = magnitude(difference(f, 2 * h) - near);
  EXPECT_TRUE(negligible(off, largest, digits_that_agree)) << what << ": off by " << shown(off);
  EXPECT_FALSE(surely_greater(magnitude(gradient - near), off))
      << what << ": " << shown(gradient) << ", differences give " << shown(near);
}

Ball largest_of(const Matrix<Ball>& x, Ball largest) {
  for (Eigen::Index i = 0; i < x.size(); ++i) largest = larger_for_certain(largest, x(i));
  return largest;
}

Matrix<Ball> of_role(const LayerTensor& tensor, const Choice& layer, std::uint64_t seed) {
  std::vector<std::int64_t> shape = tensor.shape(layer, features);
  for (std::int64_t& size : shape) size = size < 0 ? rows : size;
  const Matrix<double> values = drawn(shape.size() == 1 ? 1 : shape[0], shape.back(), seed);
  if (tensor.role == Role::running) return values.cwiseAbs().cast<Ball>();
  if (tensor.role == Role::mask) return values.unaryExpr([](double v) { return v > 0 ? 1.0 : 0.0; }).cast<Ball>();
  return values.cast<Ball>();
}

void expect_gradients(const Contract& contract, const Choice& choice) {
  const Layer layer{choice, "layer"};
  Tensors<Ball> tensors;
  for (const LayerTensor& tensor : contract.tensors)
    if (tensor.present(layer)) tensors[tensor.name] = of_role(tensor, layer, 31 + tensors.size());
  const Matrix<Ball> x = drawn(rows, features, 11).cast<Ball>();
  const Matrix<Ball> dy = drawn(rows, contract.out_features(layer, features), 12).cast<Ball>();
  const Cut cut{3, 2};
  const ExactLayer<Ball>& mathematics = exact_layer<Ball>(contract.kind);
  BackwardResult<Ball> back = mathematics.backward({layer, tensors, cut}, x, dy);
  for (const LayerTensor& tensor : contract.tensors)
    EXPECT_EQ(back.parameters.contains(tensor.name), tensor.role == Role::parameter && tensor.present(layer));
  back.parameters["x"] = back.dx;

  for (const auto& [name, gradient] : back.parameters)
    for (Eigen::Index i = 0; i < gradient.size(); ++i) {
      const Function inner_product = [&, name = name](const Ball& offset) {
        Tensors<Ball> moved = tensors;
        moved["x"] = x;
        moved.at(name)(i) += offset;
        const Matrix<Ball> y = mathematics.forward({layer, moved, cut}, moved.at("x")).y;
        return Ball(y.cwiseProduct(dy).sum());
      };
      expect_derivative(gradient(i), inner_product, largest_of(gradient, dy(0)),
                        text_of(choice) + ": " + name + "[" + std::to_string(i) + "]");
    }
}

TEST(RegisteredLayers, HaveTheGradientsThatDifferencesOfTheirForwardsGive) {
  const BitsScope scope(bits);
  const auto contracts = drawn_contracts_of("layer");
  ASSERT_FALSE(contracts.empty());
  for (const Contract* contract : contracts)
    for (const Choice& choice : choices_of(*contract)) expect_gradients(*contract, choice);
}

/// Class numbers, one of them the ignored one where that may be a class, for a loss that ignores some; else values.
Matrix<Ball> targets_of(const Choice& loss) {
  if (!loss.options.contains("ignore_index")) return drawn(rows, features, 44).cast<Ball>();
  Matrix<Ball> target(1, rows);
  for (Eigen::Index r = 0; r < rows; ++r) target(r) = r == 2 ? Ball(loss.integer("ignore_index")) : Ball(r % features);
  return target;
}

void expect_gradients_of_loss(const Choice& loss) {
  const Matrix<Ball> y = drawn(rows, features, 41).cast<Ball>(), target = targets_of(loss),
                     weight = drawn(1, rows, 42).cwiseAbs().cast<Ball>(), factor = drawn(1, rows, 43).cast<Ball>();
  const ExactLoss<Ball>& mathematics = exact_loss<Ball>(loss.kind);
  const Matrix<Ball> dy = mathematics.evaluate(loss, y, target, weight, factor).dy;
  for (Eigen::Index i = 0; i < dy.size(); ++i) {
    const Function sum = [&](const Ball& offset) {
      Matrix<Ball> moved = y;
      moved(i) += offset;
      return Ball(mathematics.evaluate(loss, moved, target, weight, factor).loss.cwiseProduct(factor).sum());
    };
    expect_derivative(dy(i), sum, largest_of(dy, Ball(0)), text_of(loss) + ": y[" + std::to_string(i) + "]");
  }
}

TEST(RegisteredLosses, HaveTheGradientThatDifferencesOfTheirValueGive) {
  const BitsScope scope(bits);
  const auto contracts = drawn_contracts_of("loss");
  ASSERT_FALSE(contracts.empty());
  for (const Contract* contract : contracts)
    for (Choice loss : choices_of(*contract)) {
      if (const auto ignored = loss.options.find("ignore_index"); ignored != loss.options.end())
        if (std::get<std::int64_t>(ignored->second) >= features) ignored->second = std::int64_t{0};
      expect_gradients_of_loss(loss);
    }
}

TEST(ContractChoices, TakeEveryWordAndAtLeastThreeNumbersOfEveryOption) {
  for (const char* section : {"layer", "loss"}) {
    const auto contracts = drawn_contracts_of(section);
    EXPECT_FALSE(contracts.empty()) << section;
    for (const Contract* contract : contracts)
      for (const Option& option : contract->options) {
        std::set<std::string> taken;
        for (const Choice& choice : choices_of(*contract))
          taken.insert(text_of({"", {{option.name, choice.options.at(option.name)}}}));
        const bool number = option.type == OptionType::number || option.type == OptionType::integer;
        const std::size_t least = number ? 3 : option.type == OptionType::text ? option.words.size() : 1;
        EXPECT_GE(taken.size(), least) << contract->kind << " " << option.name;
      }
  }
}

}  // namespace
}  // namespace tally::oracle::registered_derivatives_test
