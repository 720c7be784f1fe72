#include "tests/oracle/operations/norm_machines.hpp"

namespace tally::oracle::operations::norms_test {
namespace {

constexpr std::int64_t rows = 4;
constexpr double eps = 1e-5;
using Random = std::mt19937_64;

/// Parameters as norms have them, and biases beside which y is small.
struct Parameters {
  Numbers w, b;
  Parameters(std::int64_t n, Element element, Random& random)
      : w(drawn(n, random, element)), b(drawn(n, random, element)) {
    for (double& each : b)
      if (random() % 2 == 0) each = written(element, 1000 * each);
  }
};

Floats row_of(const Numbers& x, std::int64_t row, std::int64_t n) {
  return {x.begin() + row * n, x.begin() + (row + 1) * n};
}

/// Groups are rows; the weight of element i of a row is w[parameter(row, i)].
template <class F>
void forward(Held& held, const std::string& name, const Sizes& sizes, std::int64_t n, Arguments more,
             std::int64_t channels, F parameter) {
  Random random(1);
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const NormWay& way : norm_ways) {
        const Numbers x = drawn(data, count_of(sizes), element, random);
        const Parameters p(channels, element, random);
        Floats y, means, rstds;
        for (std::int64_t row = 0; row * n < count_of(sizes); ++row) {
          const Floats values = row_of(x, row, n);
          const NormStatistics s(values, static_cast<float>(eps), way, random);
          means.push_back(s.mean);
          rstds.push_back(s.rstd);
          for (std::int64_t i = 0; i < n; ++i) {
            const auto k = static_cast<std::size_t>(parameter(row, i));
            y.push_back(normed(values[static_cast<std::size_t>(i)], s, static_cast<float>(p.w[k]),
                               static_cast<float>(p.b[k]), way));
          }
        }
        more["input"] = tensor(sizes, x, element);
        more["weight"] = vector_of(p.w, element);
        more["bias"] = vector_of(p.b, element);
        more["eps"] = eps;
        held.add(call_of(name, more,
                         {tensor(sizes, stored(element, y), element), vector_of(stored(Element::float32, means)),
                          vector_of(stored(Element::float32, rstds))}));
      }
}

TEST(NormRules, HoldLayersAndGroupsByTwoPassesAndByUpdates) {
  Held layers, groups;
  for (const std::int64_t n : {1, 2, 30, 200})
    forward(layers, "native_layer_norm", {rows, n}, n, {{"normalized_shape", Sizes{n}}}, n,
            [](std::int64_t, std::int64_t i) { return i; });
  forward(groups, "native_group_norm", {2, 6, 5}, 15, {{"N", 2}, {"C", 6}, {"HxW", 5}, {"group", 2}}, 6,
          [](std::int64_t row, std::int64_t i) { return row % 2 * 3 + i / 5; });
  layers.report("native_layer_norm");
  groups.report("native_group_norm");
}

/// A bias far above y: a shift that folds it in rounds by its size.
TEST(NormRules, HoldShiftsThatRoundByTheirBias) {
  Random random(2);
  Held held;
  for (int draw = 0; draw < 200; ++draw) {
    const std::int64_t n = 8;
    const Numbers x = drawn(n, random);
    const Parameters p(n, Element::float32, random);
    const NormWay way = norm_ways[1];
    const NormStatistics s(floats(x), 0, way, random);
    Floats y;
    for (std::size_t i = 0; i < x.size(); ++i)
      y.push_back(
          normed(static_cast<float>(x[i]), s, static_cast<float>(p.w[i]), static_cast<float>(100 * p.b[i]), way));
    Numbers b = p.b;
    for (double& each : b) each = static_cast<float>(100 * each);
    held.add(call_of("native_layer_norm",
                     {{"input", tensor({1, n}, x)},
                      {"normalized_shape", Sizes{n}},
                      {"weight", vector_of(p.w)},
                      {"bias", vector_of(b)},
                      {"eps", 0.0}},
                     {tensor({1, n}, stored(Element::float32, y)), vector_of({s.mean}), vector_of({s.rstd})}));
  }
  held.report("layer_norm with a bias");
}

TEST(NormRules, HoldRootMeanSquares) {
  Random random(3);
  Held held;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const NormWay& way : norm_ways) {
        const std::int64_t n = 33;
        const Numbers x = drawn(data, rows * n, element, random), w = drawn(n, random, element);
        Floats y, rstds;
        for (std::int64_t row = 0; row < rows; ++row) {
          Floats values = row_of(x, row, n), squares;
          for (const float each : values) squares.push_back(each * each);
          const float sum = added_up(squares, way.order, random) / static_cast<float>(n) + 0x1p-23f;  // eps is None
          rstds.push_back(way.by_function ? function(1 / std::sqrt(static_cast<double>(sum)), random)
                                          : 1 / std::sqrt(sum));
          for (std::size_t i = 0; i < values.size(); ++i) {
            const auto wi = static_cast<float>(w[i]);
            y.push_back(way.folds ? values[i] * (rstds.back() * wi) : values[i] * rstds.back() * wi);
          }
        }
        Arguments arguments{{"input", tensor({rows, n}, x, element)},
                            {"normalized_shape", Sizes{n}},
                            {"weight", vector_of(w, element)},
                            {"eps", Argument()}};
        const std::vector<Argument> out{tensor({rows, n}, stored(element, y), element),
                                        vector_of(stored(Element::float32, rstds))};
        held.add(call_of("_fused_rms_norm", arguments, out));
        arguments["eps"] = 1e-3;
        if (data == Data::normal && element == Element::float32)
          expect_caught(call_of("_fused_rms_norm", arguments, out));
      }
  held.report("_fused_rms_norm");
}

TEST(NormRules, SeeWrongNorms) {
  Random random(4);
  const std::int64_t n = 24;
  const Numbers x = drawn(rows * n, random);
  const Parameters p(n, Element::float32, random);
  const auto judged = [&](auto f, float more = 0, bool biased = false) {
    Numbers y, means, rstds;
    for (std::int64_t row = 0; row < rows; ++row) {
      double mean = 0, var = 0;
      const Floats values = row_of(x, row, n);
      for (const float each : values) mean += each / static_cast<double>(n);
      for (const float each : values) var += (each - mean) * (each - mean) / static_cast<double>(biased ? n - 1 : n);
      means.push_back(mean);
      rstds.push_back(1 / (std::sqrt(var + 1e-2) + more));
      for (std::size_t i = 0; i < values.size(); ++i) y.push_back(f(values[i], mean, var, p.w[i], p.b[i]));
    }
    return call_of("native_layer_norm",
                   {{"input", tensor({rows, n}, x)},
                    {"normalized_shape", Sizes{n}},
                    {"weight", vector_of(p.w)},
                    {"bias", vector_of(p.b)},
                    {"eps", 1e-2}},
                   {tensor({rows, n}, y), vector_of(means), vector_of(rstds)});
  };
  const auto right = [](double value, double mean, double var, double w, double b) {
    return (value - mean) / std::sqrt(var + 1e-2) * w + b;
  };
  EXPECT_EQ(standing_of(judged(right)).wrong, 0);
  expect_caught(judged(right, 1e-2f));    // eps outside of the root
  expect_caught(judged(right, 0, true));  // the unbiased variance
  expect_caught(judged([](double value, double mean, double var, double w, double b) {
    return (value - mean) / (std::sqrt(var) + 1e-2) * w + b;
  }));
  expect_caught(judged(
      [](double value, double, double var, double w, double b) { return value / std::sqrt(var + 1e-2) * w + b; }));
  expect_caught(
      judged([&](double value, double mean, double var, double w, double) { return right(value, mean, var, w, 0); }));
}

TEST(NormRules, HoldEmptyOnesAndRefuseOthers) {
  const auto norm = [](const View& x, std::int64_t n, const View& w, const View& y, const View& mean) {
    return call_of("native_layer_norm", {{"input", x}, {"normalized_shape", Sizes{n}}, {"weight", w}, {"eps", eps}},
                   {y, mean, mean});
  };
  const View none = tensor({0, 4}, {}), w = vector_of({1, 1, 1, 1}), x = tensor({1, 4}, {1, 2, 3, 4});
  EXPECT_EQ(standing_of(norm(none, 4, w, none, tensor({0, 1}, {}))).elements, 0);
  EXPECT_THROW(standing_of(norm(x, 4, vector_of({1}), x, vector_of({0}))), NotJudged);
  EXPECT_THROW(standing_of(norm(x, 4, w, vector_of({1}), vector_of({0}))), NotJudged);
  EXPECT_THROW(standing_of(norm(x, 4, w, x, vector_of({0, 1}))), NotJudged);
  for (const int group : {0, 3})
    EXPECT_THROW(
        standing_of(call_of("native_group_norm",
                            {{"input", x}, {"N", 1}, {"C", 4}, {"HxW", 1}, {"group", group}, {"eps", eps}}, {x, w, w})),
        NotJudged);
  EXPECT_THROW(standing_of(call_of("native_batch_norm",
                                   {{"input", w}, {"training", true}, {"eps", eps}, {"momentum", 0.1}}, {w, w, w})),
               NotJudged);
}

}  // namespace
}  // namespace tally::oracle::operations::norms_test
