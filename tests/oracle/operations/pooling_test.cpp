#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::pooling_test {
namespace {

using Random = std::mt19937_64;

struct Pool {
  std::int64_t planes, height, width, kernel, stride, padding, dilation = 1;
  std::int64_t extent(std::int64_t in) const { return (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1; }
  Sizes in() const { return {1, planes, height, width}; }
  Sizes out() const { return {1, planes, extent(height), extent(width)}; }
  Arguments geometry() const {
    return {{"kernel_size", Sizes{kernel, kernel}},
            {"stride", Sizes{stride, stride}},
            {"padding", Sizes{padding, padding}},
            {"dilation", Sizes{dilation, dilation}}};
  }
  /// f(result, place in its plane, place in the tensor) of every element of every window.
  template <class F>
  void each(F f) const {
    const Sizes to = out();
    for (std::int64_t k = 0; k < count_of(to); ++k)
      for (std::int64_t r = 0; r < kernel; ++r)
        for (std::int64_t s = 0; s < kernel; ++s) {
          const std::int64_t row = k / to[3] % to[2] * stride - padding + r * dilation,
                             column = k % to[3] * stride - padding + s * dilation, place = row * width + column;
          if (row < 0 || row >= height || column < 0 || column >= width) continue;
          f(static_cast<std::size_t>(k), place, static_cast<std::size_t>(k / (to[2] * to[3]) * height * width + place));
        }
  }
};

const Pool pools[] = {{2, 6, 5, 2, 2, 0}, {3, 7, 7, 3, 2, 1}, {1, 5, 8, 3, 1, 1}, {1, 1, 1, 1, 1, 0}};

TEST(PoolingRules, HoldAveragesAndTheirGradients) {
  Random random(1);
  Held forwards, backwards;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const Pool& pool : pools)
        for (const bool padding_counts : {false, true})
          for (const Order order : orders) {
            const Numbers x = drawn(data, count_of(pool.in()), element, random),
                          g = drawn(data, count_of(pool.out()), element, random);
            std::vector<Floats> windows(static_cast<std::size_t>(count_of(pool.out()))), shares(x.size());
            pool.each(
                [&](std::size_t k, std::int64_t, std::size_t i) { windows[k].push_back(static_cast<float>(x[i])); });
            const auto size = [&](std::size_t k) {
              return padding_counts ? static_cast<float>(pool.kernel * pool.kernel)
                                    : static_cast<float>(windows[k].size());
            };
            pool.each([&](std::size_t k, std::int64_t, std::size_t i) {
              shares[i].push_back(static_cast<float>(g[k]) / size(k));
            });
            Floats y, dx;
            for (std::size_t k = 0; k < windows.size(); ++k) {
              const float sum = added_up(windows[k], order, random);
              y.push_back(order == Order::lanes ? sum * (1 / size(k)) : sum / size(k));
            }
            for (const Floats& each : shares) dx.push_back(added_up(each, order, random));
            Arguments arguments = pool.geometry();
            arguments["self"] = tensor(pool.in(), x, element);
            arguments["grad_output"] = tensor(pool.out(), g, element);
            arguments["count_include_pad"] = padding_counts;
            const View out = tensor(pool.out(), stored(element, y), element);
            forwards.add(call_of("avg_pool2d", arguments, {out}));
            backwards.add(call_of("avg_pool2d_backward", arguments, {tensor(pool.in(), stored(element, dx), element)}));
            if (data != Data::normal || pool.padding == 0) continue;
            arguments["count_include_pad"] = !padding_counts;
            expect_caught(call_of("avg_pool2d", arguments, {out}));
          }
  forwards.report("avg_pool2d");
  backwards.report("avg_pool2d_backward");
}

TEST(PoolingRules, HoldTheLargestAndItsPlace) {
  Random random(2);
  Held backwards;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const Pool& pool : pools) {
        const Numbers x = drawn(data, count_of(pool.in()), element, random),
                      g = drawn(count_of(pool.out()), random, element);
        Numbers y(static_cast<std::size_t>(count_of(pool.out())), -infinite), places(y), wrong;
        pool.each([&](std::size_t k, std::int64_t place, std::size_t i) {
          if (x[i] > y[k] || (x[i] == y[k] && random() % 2 == 0)) places[k] = static_cast<double>(place), y[k] = x[i];
        });
        Arguments arguments = pool.geometry();
        arguments["self"] = tensor(pool.in(), x, element);
        const View values = tensor(pool.out(), y, element), chosen = tensor(pool.out(), places, Element::int64);
        EXPECT_EQ(standing_of(call_of("max_pool2d_with_indices", arguments, {values, chosen})).wrong, 0);
        std::vector<Floats> sums(x.size());
        const std::size_t space = static_cast<std::size_t>(pool.height * pool.width),
                          to = y.size() / static_cast<std::size_t>(pool.planes);
        for (std::size_t k = 0; k < y.size(); ++k)
          sums[k / to * space + static_cast<std::size_t>(places[k])].push_back(static_cast<float>(g[k]));
        Floats dx, moved;
        for (const Floats& each : sums) {
          float sum = 0;
          for (const float part : each) sum = rounded_to(element, sum + part);
          dx.push_back(sum);
        }
        arguments["grad_output"] = tensor(pool.out(), g, element);
        arguments["indices"] = chosen;
        backwards.add(
            call_of("max_pool2d_with_indices_backward", arguments, {tensor(pool.in(), stored(element, dx), element)}));
        if (data != Data::normal || x.size() < 2) continue;
        std::rotate(dx.begin(), dx.begin() + 1, dx.end());  // to the place behind
        expect_caught(
            call_of("max_pool2d_with_indices_backward", arguments, {tensor(pool.in(), stored(element, dx), element)}));
        for (const double place : places) wrong.push_back(place > 0 ? place - 1 : place + 1);
        expect_caught(
            call_of("max_pool2d_with_indices", arguments, {values, tensor(pool.out(), wrong, Element::int64)}));
      }
  backwards.report("max_pool2d_backward");
}

TEST(PoolingRules, HoldWindowsThatDivideTheirPlane) {
  const View x = tensor({1, 1, 1, 5}, {1, 2, 3, 4, 5});  // of 5 in 3: [0, 2), [1, 4), [3, 5)
  const Arguments arguments{{"self", x}, {"grad_output", tensor({1, 1, 1, 3}, {2, 3, 4})}};

  EXPECT_EQ(standing_of(call_of("_adaptive_avg_pool2d", arguments, {tensor({1, 1, 1, 3}, {1.5, 3, 4.5})})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("_adaptive_avg_pool2d", arguments, {tensor({1, 1, 1, 3}, {1.5, 3.5, 4.5})})).wrong, 1);
  EXPECT_EQ(
      standing_of(call_of("_adaptive_avg_pool2d_backward", arguments, {tensor({1, 1, 1, 5}, {1, 2, 1, 3, 2})})).wrong,
      0);
  EXPECT_EQ(
      standing_of(call_of("_adaptive_avg_pool2d_backward", arguments, {tensor({1, 1, 1, 5}, {1, 1, 1, 3, 2})})).wrong,
      1);
}

TEST(PoolingRules, RefuseOtherGeometries) {
  const Pool pool = pools[0];
  const View x = tensor(pool.in(), Numbers(60, 1.0)), y = tensor(pool.out(), Numbers(12, 1.0));
  for (const char* name : {"kernel_size", "stride", "dilation", "padding"}) {
    Arguments arguments = pool.geometry();
    arguments["self"] = x;
    arguments[name] = Sizes{-1, -1};
    EXPECT_THROW(standing_of(call_of("avg_pool2d", arguments, {y})), NotJudged) << name;
  }
  Arguments arguments = pool.geometry();
  arguments["self"] = x;
  EXPECT_THROW(standing_of(call_of("avg_pool2d", arguments, {tensor({1, 1, 3, 2}, Numbers(6, 1.0))})), NotJudged);
  EXPECT_THROW(standing_of(call_of("max_pool2d_with_indices", arguments,
                                   {y, tensor({1, 1, 12, 1}, Numbers(12, 0.0), Element::int64)})),
               NotJudged);
  arguments["self"] = tensor({0, 2, 6, 5}, {});
  EXPECT_EQ(standing_of(call_of("avg_pool2d", arguments, {tensor({0, 2, 3, 2}, {})})).elements, 0);
}

}  // namespace
}  // namespace tally::oracle::operations::pooling_test
