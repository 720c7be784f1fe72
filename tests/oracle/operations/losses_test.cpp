#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::losses_test {
namespace {

constexpr std::int64_t rows = 40, classes = 5, ignored = 3;
enum Reduction { none, mean, sum };
using Random = std::mt19937_64;

struct Labels {
  Numbers labels, weights;
  explicit Labels(Random& random) : weights(drawn(classes, random)) {
    for (std::int64_t i = 0; i < rows; ++i)
      labels.push_back(random() % 4 == 0 ? static_cast<double>(ignored) : static_cast<double>(random() % classes));
    for (double& each : weights) each = std::fabs(each);
  }
  bool counts(std::int64_t row) const { return labels[static_cast<std::size_t>(row)] != ignored; }
  std::size_t label(std::int64_t row) const { return static_cast<std::size_t>(labels[static_cast<std::size_t>(row)]); }
  float weight(std::int64_t row) const { return static_cast<float>(weights[label(row)]); }
};

Arguments arguments_of(const Labels& of, const View& x, bool weighted, int reduction) {
  return {{"self", x},
          {"target", vector_of(of.labels, Element::int64)},
          {"weight", weighted ? Argument(vector_of(of.weights, x.element)) : Argument()},
          {"reduction", reduction},
          {"ignore_index", ignored}};
}

TEST(LossRules, HoldNegativeLogLikelihoods) {
  Random random(1);
  Held forwards, backwards;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const bool weighted : {false, true})
        for (const Order order : orders) {
          Labels of(random);
          of.weights = Numbers(tensor({classes}, of.weights, element).read());
          const Numbers x = drawn(data, rows * classes, element, random);
          Floats terms, weights;
          for (std::int64_t row = 0; row < rows; ++row) {
            if (!of.counts(row)) continue;
            weights.push_back(weighted ? of.weight(row) : 1);
            terms.push_back(-static_cast<float>(x[static_cast<std::size_t>(row * classes) + of.label(row)]) *
                            weights.back());
          }
          const float all = added_up(terms, order, random);
          const float total = rounded_to(element, added_up(weights, order, random));
          const View self = tensor({rows, classes}, x, element), weight = number_of(total, element);
          for (const int reduction : {mean, sum}) {
            const float loss = reduction == sum ? all : all / total;
            forwards.add(call_of("nll_loss_forward", arguments_of(of, self, weighted, reduction),
                                 {number_of(rounded_to(element, loss), element), weight}));
          }
          const float g = static_cast<float>(drawn(1, random, element)[0]);
          Floats gradients(static_cast<std::size_t>(rows * classes), 0.0f);
          for (std::int64_t row = 0; row < rows; ++row) {
            if (!of.counts(row)) continue;
            const float w = weighted ? of.weight(row) : 1;
            gradients[static_cast<std::size_t>(row * classes) + of.label(row)] =
                order == Order::lanes ? -w * (g / total) : -w * g / total;
          }
          Arguments more = arguments_of(of, self, weighted, mean);
          more["grad_output"] = number_of(g, element);
          more["total_weight"] = weight;
          backwards.add(
              call_of("nll_loss_backward", more, {tensor({rows, classes}, stored(element, gradients), element)}));
        }
  forwards.report("nll_loss_forward");
  backwards.report("nll_loss_backward");
}

TEST(LossRules, SeeWrongLikelihoods) {
  Random random(2);
  const Labels of(random);
  const Numbers x = drawn(rows * classes, random);
  const View self = tensor({rows, classes}, x);
  double all = 0, total = 0, shifted = 0, count = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!of.counts(row)) continue;
    const std::size_t first = static_cast<std::size_t>(row * classes);
    all -= x[first + of.label(row)] * of.weight(row);
    shifted -= x[first + (of.label(row) + 1) % classes] * of.weight(row);
    total += of.weight(row);
    ++count;
  }
  const Arguments arguments = arguments_of(of, self, true, mean);
  const auto judged = [&](double loss, double weight) {
    return call_of("nll_loss_forward", arguments, {number_of(loss), number_of(weight)});
  };
  EXPECT_EQ(standing_of(judged(all / total, total)).wrong, 0);
  expect_caught(judged(all / rows, rows));        // the ignored ones in the mean
  expect_caught(judged(all / count, total));      // rows in place of weights
  expect_caught(judged(shifted / total, total));  // the neighbour's class
  expect_caught(judged(-all / total, total));
  Arguments backwards = arguments;
  backwards["grad_output"] = number_of(1);
  backwards["total_weight"] = number_of(total);
  Numbers gradients(static_cast<std::size_t>(rows * classes), 0.0);
  const auto at = [&](std::int64_t row) -> double& {
    return gradients[static_cast<std::size_t>(row * classes) + (of.counts(row) ? of.label(row) : 0)];
  };
  for (std::int64_t row = 0; row < rows; ++row)
    if (of.counts(row)) at(row) = -of.weight(row) / total;
  EXPECT_EQ(standing_of(call_of("nll_loss_backward", backwards, {tensor({rows, classes}, gradients)})).wrong, 0);
  for (std::int64_t row = 0; row < rows; ++row)
    if (!of.counts(row)) at(row) = -1 / total;  // ignored rows move something
  expect_caught(call_of("nll_loss_backward", backwards, {tensor({rows, classes}, gradients)}));
}

/// [images, classes, places]: the class's stride is the number of places.
TEST(LossRules, HoldLabelsOfPlaces) {
  const View x = tensor({1, 2, 3}, {1, 2, 3, 4, 5, 6}), labels = tensor({1, 3}, {0, 1, 1}, Element::int64);
  const Arguments arguments{{"self", x}, {"target", labels}, {"reduction", none}};

  EXPECT_EQ(standing_of(call_of("nll_loss2d_forward", arguments, {tensor({1, 3}, {-1, -5, -6})})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("nll_loss2d_forward", arguments, {tensor({1, 3}, {-1, -2, -3})})).wrong, 2);
}

TEST(LossRules, HoldSquares) {
  Random random(3);
  Held forwards, backwards;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const Order order : orders) {
        const Numbers x = drawn(data, rows, element, random), y = drawn(data, rows, element, random);
        Floats squares, gradients;
        const auto factor = static_cast<float>(2.0 / rows), g = static_cast<float>(drawn(1, random, element)[0]);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const float difference = static_cast<float>(x[i]) - static_cast<float>(y[i]);
          squares.push_back(difference * difference);
          gradients.push_back(order == Order::lanes ? factor * (difference * g) : factor * difference * g);
        }
        Arguments arguments{{"self", vector_of(x, element)}, {"target", vector_of(y, element)}, {"reduction", mean}};
        const float all = added_up(squares, order, random);
        forwards.add(call_of("mse_loss", arguments, {number_of(rounded_to(element, all / rows), element)}));
        arguments["grad_output"] = number_of(g, element);
        backwards.add(call_of("mse_loss_backward", arguments, {vector_of(stored(element, gradients), element)}));
        if (element != Element::float32 || data != Data::normal) continue;
        for (float& each : gradients) each /= 2;  // without the square's 2
        expect_caught(call_of("mse_loss_backward", arguments, {vector_of(stored(element, gradients))}));
        expect_caught(call_of("mse_loss", arguments, {number_of(all / (rows - 1))}));
        arguments["reduction"] = none;
        EXPECT_EQ(standing_of(call_of("mse_loss", arguments, {vector_of(stored(element, squares))})).wrong, 0);
      }
  forwards.report("mse_loss");
  backwards.report("mse_loss_backward");
}

TEST(LossRules, HoldBatchesOfNone) {
  const View x = tensor({0, 5, 3}, {}), labels = tensor({0, 3}, {}, Element::int64);
  const Arguments arguments{{"self", x}, {"target", labels}, {"reduction", mean}};
  EXPECT_EQ(standing_of(call_of("nll_loss2d_forward", arguments, {number_of(NAN), number_of(0)})).wrong, 0);
  const Arguments one{{"self", vector_of({1, 2})}, {"target", number_of(1, Element::int64)}, {"reduction", sum}};
  EXPECT_EQ(standing_of(call_of("nll_loss_forward", one, {number_of(-2), number_of(1)})).wrong, 0);
  const Arguments other{{"self", x}, {"target", vector_of({1}, Element::int64)}, {"reduction", mean}};
  EXPECT_THROW(standing_of(call_of("nll_loss_forward", other, {number_of(0)})), NotJudged);
  EXPECT_THROW(standing_of(call_of("nll_loss_forward", one, {vector_of({1, 2}), number_of(1)})), NotJudged);
}

}  // namespace
}  // namespace tally::oracle::operations::losses_test
