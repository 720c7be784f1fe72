#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::softmax_test {
namespace {

constexpr std::int64_t rows = 4;
using Random = std::mt19937_64;

float exp(float x, Random& random) { return function(std::exp(static_cast<double>(x)), random); }

/// The largest of a row and the sum of its exponentials, at once or by blocks that scale what stands before them.
struct Sums {
  float largest, sum;
  Sums(const Floats& x, std::size_t block, Order order, Random& random) : largest(-INFINITY), sum(0) {
    for (std::size_t first = 0; first < x.size(); first += block) {
      const Floats part(x.begin() + static_cast<std::ptrdiff_t>(first),
                        x.begin() + static_cast<std::ptrdiff_t>(std::min(first + block, x.size())));
      const float now = std::max(largest, *std::max_element(part.begin(), part.end()));
      Floats powers;
      for (const float each : part) powers.push_back(exp(each - now, random));
      sum = (first == 0 ? 0 : sum * exp(largest - now, random)) + added_up(powers, order, random);
      largest = now;
    }
  }
};

Numbers scores(Data data, std::int64_t n, Element element, Random& random) {
  Numbers all = drawn(data == Data::huge ? Data::normal : data, rows * n, element, random);
  if (data == Data::huge)
    for (double& each : all) each = written(element, each * 30);
  for (std::int64_t i = 1; i < n; i += 5)
    if (random() % 4 == 0) all[static_cast<std::size_t>(i)] = -infinite;
  return all;
}

template <class F>
View by_rows(Element element, const Numbers& x, std::int64_t n, F f) {
  Floats all;
  for (std::int64_t r = 0; r < rows; ++r) {
    const Floats row = f(Floats(x.begin() + r * n, x.begin() + (r + 1) * n), r);
    all.insert(all.end(), row.begin(), row.end());
  }
  return tensor({rows, n}, stored(element, all), element);
}

TEST(SoftmaxRules, HoldEveryGroupingForwards) {
  Random random(1);
  Held plain, logarithms;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const std::int64_t n : {1, 3, 64, 257})
        for (const Order order : orders) {
          const Numbers x = scores(data, n, element, random);
          const Arguments arguments{{"self", tensor({rows, n}, x, element)}, {"dim", -1}};
          const auto quotients = [&](Floats row, std::int64_t) {
            const Sums s(row, row.size(), order, random);
            for (float& each : row)
              each = order == Order::lanes ? exp(each - s.largest, random) * (1 / s.sum)
                                           : exp(each - s.largest, random) / s.sum;
            return row;
          };
          plain.add(call_of("_softmax", arguments, {by_rows(element, x, n, quotients)}));
          const auto differences = [&](Floats row, std::int64_t) {
            const Sums s(row, row.size(), order, random);
            const float log = function(std::log(static_cast<double>(s.sum)), random);
            for (float& each : row) each = order == Order::lanes ? each - (s.largest + log) : each - s.largest - log;
            return row;
          };
          logarithms.add(call_of("_log_softmax", arguments, {by_rows(element, x, n, differences)}));
        }
  plain.report("_softmax");
  logarithms.report("_log_softmax");
}

TEST(SoftmaxRules, HoldEveryGroupingBackwards) {
  Random random(2);
  Held plain, logarithms;
  for (const Element element : formats)
    for (const std::int64_t n : {1, 3, 64, 257})
      for (const Order order : orders) {
        const Numbers x = scores(Data::normal, n, element, random), g = drawn(rows * n, random, element);
        for (const bool log : {false, true}) {
          const View y = by_rows(element, x, n, [&](Floats row, std::int64_t) {
            const Sums s(row, row.size(), order, random);
            for (float& each : row)
              each = log ? each - s.largest - std::log(s.sum) : exp(each - s.largest, random) / s.sum;
            return row;
          });
          const auto gradient = [&](const Floats& p, std::int64_t r) {
            const Floats own(g.begin() + r * n, g.begin() + (r + 1) * n);
            const float sum = log ? added_up(own, order, random) : dot(own, p, order, random);
            Floats out;
            for (std::size_t i = 0; i < p.size(); ++i)
              out.push_back(log                     ? own[i] - exp(p[i], random) * sum
                            : order == Order::lanes ? own[i] * p[i] - p[i] * sum
                                                    : p[i] * (own[i] - sum));
            return out;
          };
          (log ? logarithms : plain)
              .add(call_of(log ? "_log_softmax_backward_data" : "_softmax_backward_data",
                           {{"grad_output", tensor({rows, n}, g, element)}, {"output", y}, {"dim", 1}},
                           {by_rows(element, y.read(), n, gradient)}));
        }
      }
  plain.report("_softmax_backward_data");
  logarithms.report("_log_softmax_backward_data");
}

TEST(SoftmaxRules, SeeWrongOnes) {
  Random random(3);
  const std::int64_t n = 32;
  const Numbers x = drawn(rows * n, random), g = drawn(rows * n, random);
  const View self = tensor({rows, n}, x), gradients = tensor({rows, n}, g);
  const auto softmax = [](const Floats& row, std::size_t count, float scale) {
    Floats all;
    float sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += std::exp(row[i] * scale);
    for (const float each : row) all.push_back(std::exp(each * scale) / sum);
    return all;
  };
  const auto out = [&](auto f) {
    return by_rows(Element::float32, x, n, [&](const Floats& row, std::int64_t r) { return f(row, r); });
  };
  const auto right = out([&](const Floats& row, std::int64_t) { return softmax(row, row.size(), 1); });
  const Arguments arguments{{"self", self}, {"dim", 1}};
  EXPECT_EQ(standing_of(call_of("_softmax", arguments, {right})).wrong, 0);
  expect_caught(call_of("_softmax", {{"self", self}, {"dim", 0}}, {right}));
  expect_caught(call_of("_softmax", arguments, {out([&](const Floats& row, std::int64_t) {  // a dropped tail of the sum
                          return softmax(row, row.size() - 1, 1);
                        })}));
  expect_caught(call_of("_softmax", arguments,
                        {out([&](const Floats& row, std::int64_t) { return softmax(row, row.size(), 0.5f); })}));
  expect_caught(call_of("_log_softmax", arguments, {out([&](Floats row, std::int64_t) {  // without the largest
                          for (float& each : row) each = std::log2(softmax(row, row.size(), 1)[0] + 0 * each);
                          return row;
                        })}));
  const Arguments backwards{{"grad_output", gradients}, {"output", right}, {"dim", 1}};
  const Numbers p = right.read();
  Floats alone, logs;
  for (std::size_t i = 0; i < p.size(); ++i) {
    alone.push_back(static_cast<float>(p[i] * g[i]));
    logs.push_back(static_cast<float>(g[i] - p[i]));
  }
  expect_caught(call_of("_softmax_backward_data", backwards, {tensor({rows, n}, stored(Element::float32, alone))}));
  expect_caught(call_of("_log_softmax_backward_data", backwards, {tensor({rows, n}, stored(Element::float32, logs))}));
}

TEST(SoftmaxRules, HoldRowsThatAreNotFinite) {
  const Arguments dead{{"self", vector_of({-infinite, -infinite})}, {"dim", 0}};
  const Arguments nan{{"self", vector_of({1, NAN})}, {"dim", 0}},
      largest{{"self", vector_of({1, infinite})}, {"dim", 0}};

  EXPECT_EQ(standing_of(call_of("_softmax", dead, {vector_of({NAN, NAN})})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("_softmax", dead, {vector_of({0, 0})})).wrong, 2);
  EXPECT_EQ(standing_of(call_of("_safe_softmax", dead, {vector_of({0, 0})})).wrong, 0);
  for (const Arguments& each : {nan, largest}) {
    EXPECT_EQ(standing_of(call_of("_softmax", each, {vector_of({NAN, NAN})})).wrong, 0);
    EXPECT_EQ(standing_of(call_of("_softmax", each, {vector_of({0, 1})})).wrong, 2);
  }
}

TEST(SoftmaxRules, HoldTensorsOfOneElementAndOfNone) {
  const Arguments one{{"self", number_of(3)}, {"dim", -1}}, none{{"self", tensor({2, 0}, {})}, {"dim", 1}};

  EXPECT_EQ(standing_of(call_of("_softmax", one, {number_of(1)})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("_log_softmax", one, {number_of(0)})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("_softmax", none, {tensor({2, 0}, {})})).elements, 0);
  EXPECT_THROW(standing_of(call_of("_softmax", one, {vector_of({1, 0})})), NotJudged);
}

}  // namespace
}  // namespace tally::oracle::operations::softmax_test
