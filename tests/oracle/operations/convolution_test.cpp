#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::convolution_test {
namespace {

using Random = std::mt19937_64;

/// Convolutions of planes, by loops over their definition.
struct Plane {
  std::int64_t images, ins, outs, height, width, kernel, stride, padding, dilation, groups;
  bool transposed = false, flips = false;
  std::int64_t extent(std::int64_t in) const {
    return transposed ? (in - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1
                      : (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }
  Sizes x() const { return {images, ins, height, width}; }
  Sizes y() const { return {images, outs, extent(height), extent(width)}; }
  Sizes w() const {
    return transposed ? Sizes{ins, outs / groups, kernel, kernel} : Sizes{outs, ins / groups, kernel, kernel};
  }
  Arguments geometry() const {
    return {{"stride", Sizes{stride, stride}},
            {"padding", Sizes{padding, padding}},
            {"dilation", Sizes{dilation, dilation}},
            {"transposed", transposed},
            {"groups", groups}};
  }

  /// f(place of x, place of w, place of y) of every product.
  template <class F>
  void each(F f) const {
    const Sizes out = y();
    const std::int64_t in_group = ins / groups, out_group = outs / groups;
    for (std::int64_t i = 0; i < images; ++i)
      for (std::int64_t o = 0; o < outs; ++o)
        for (std::int64_t c = o / out_group * in_group; c < (o / out_group + 1) * in_group; ++c)
          for (std::int64_t r = 0; r < kernel; ++r)
            for (std::int64_t s = 0; s < kernel; ++s)
              for (std::int64_t p = 0; p < (transposed ? height : out[2]); ++p)
                for (std::int64_t q = 0; q < (transposed ? width : out[3]); ++q) {
                  const std::int64_t down = p * stride + r * dilation - padding,
                                     right = q * stride + s * dilation - padding;
                  if (down < 0 || down >= (transposed ? out[2] : height) || right < 0 ||
                      right >= (transposed ? out[3] : width))
                    continue;
                  const std::int64_t tap = flips ? (kernel - 1 - r) * kernel + kernel - 1 - s : r * kernel + s;
                  const std::int64_t of_w = transposed ? (c * out_group + o % out_group) * kernel * kernel + tap
                                                       : (o * in_group + c % in_group) * kernel * kernel + tap;
                  const std::int64_t of_x =
                      (i * ins + c) * height * width + (transposed ? p * width + q : down * width + right);
                  const std::int64_t of_y =
                      (i * outs + o) * out[2] * out[3] + (transposed ? down * out[3] + right : p * out[3] + q);
                  f(static_cast<std::size_t>(of_x), static_cast<std::size_t>(of_w), static_cast<std::size_t>(of_y));
                }
  }
};

/// The sums of a[.] b[.] at each of the places that `each` names.
struct Products {
  std::vector<Floats> a, b;
  explicit Products(std::int64_t places) : a(static_cast<std::size_t>(places)), b(a) {}
  void add(std::size_t at, double x, double y) {
    a[at].push_back(static_cast<float>(x));
    b[at].push_back(static_cast<float>(y));
  }
  Floats sums(Order order, Random& random) const {
    Floats all;
    for (std::size_t i = 0; i < a.size(); ++i) all.push_back(dot(a[i], b[i], order, random));
    return all;
  }
};

const Plane planes[] = {{2, 2, 3, 5, 6, 3, 1, 1, 1, 1},
                        {1, 4, 2, 7, 5, 3, 2, 1, 1, 2},
                        {2, 3, 3, 6, 6, 2, 1, 0, 2, 3},
                        {1, 2, 4, 3, 4, 3, 2, 1, 1, 2, true},
                        {1, 1, 1, 1, 1, 1, 1, 0, 1, 1}};

Floats convolved(const Plane& plane, const Numbers& x, const Numbers& w, const Numbers& bias, Order order,
                 Random& random) {
  Products y(count_of(plane.y()));
  plane.each([&](std::size_t i, std::size_t j, std::size_t k) { y.add(k, x[i], w[j]); });
  Floats all = y.sums(order, random);
  const std::size_t space = all.size() / static_cast<std::size_t>(plane.images * plane.outs);
  for (std::size_t k = 0; k < all.size(); ++k)
    all[k] += static_cast<float>(bias[k / space % static_cast<std::size_t>(plane.outs)]);
  return all;
}

TEST(ConvolutionRules, HoldConvolutionsAndTheirGradients) {
  Random random(1);
  Held forwards, backwards;
  for (const Element element : formats)
    for (const Data data : {Data::normal, Data::far_from_zero, Data::tiny, Data::whole, Data::zeros})
      for (const Plane& plane : planes)
        for (const Order order : orders) {
          const Numbers x = drawn(data, count_of(plane.x()), element, random),
                        w = drawn(count_of(plane.w()), random, element), bias = drawn(plane.outs, random, element),
                        g = drawn(data, count_of(plane.y()), element, random);
          Arguments arguments = plane.geometry();
          arguments["input"] = tensor(plane.x(), x, element);
          arguments["weight"] = tensor(plane.w(), w, element);
          arguments["bias"] = vector_of(bias, element);
          const auto in = [&](const Sizes& sizes, const Floats& of) {
            return tensor(sizes, stored(element, of), element);
          };
          forwards.add(call_of("convolution", arguments, {in(plane.y(), convolved(plane, x, w, bias, order, random))}));
          Products dx(count_of(plane.x())), dw(count_of(plane.w()));
          plane.each([&](std::size_t i, std::size_t j, std::size_t k) {
            dx.add(i, w[j], g[k]);
            dw.add(j, x[i], g[k]);
          });
          std::vector<Floats> channels(static_cast<std::size_t>(plane.outs));
          const std::size_t space = g.size() / static_cast<std::size_t>(plane.images * plane.outs);
          for (std::size_t k = 0; k < g.size(); ++k)
            channels[k / space % channels.size()].push_back(static_cast<float>(g[k]));
          Floats db;
          for (const Floats& each : channels) db.push_back(added_up(each, order, random));
          arguments["grad_output"] = tensor(plane.y(), g, element);
          backwards.add(call_of(
              "convolution_backward", arguments,
              {in(plane.x(), dx.sums(order, random)), in(plane.w(), dw.sums(order, random)), in({plane.outs}, db)}));
        }
  forwards.report("convolution");
  backwards.report("convolution_backward");
}

TEST(ConvolutionRules, SeeWrongOnes) {
  Random random(2);
  const Plane right{2, 4, 4, 6, 6, 3, 1, 1, 1, 2};
  const Numbers x = drawn(count_of(right.x()), random), w = drawn(count_of(right.w()), random), bias(4, 0.0);
  const auto judged = [&](const Plane& by, const Plane& told) {
    Arguments arguments = told.geometry();
    arguments["input"] = tensor(right.x(), x);
    arguments["weight"] = tensor(right.w(), w);
    return call_of("convolution", arguments,
                   {tensor(by.y(), stored(Element::float32, convolved(by, x, w, bias, Order::forwards, random)))});
  };
  EXPECT_EQ(standing_of(judged(right, right)).wrong, 0);
  Plane flipped = right, padded = right;
  flipped.flips = true;
  expect_caught(judged(flipped, right));
  Plane dense = right;
  dense.stride = 2;  // ignored: the first of all places
  Call ignored = judged(dense, dense);
  ignored.out[0] = Argument(judged(right, right).result().narrowed(2, 0, 3).narrowed(3, 0, 3));
  expect_caught(ignored);
  padded.padding = 2;  // on the wrong side, as if moved
  padded.dilation = 2;
  expect_caught(judged(padded, right));
  Call other = judged(right, right);  // the other group's channels
  Numbers rolled = other.result().read();
  std::rotate(rolled.begin(), rolled.begin() + static_cast<std::ptrdiff_t>(rolled.size() / 4), rolled.end());
  other.out[0] = Argument(tensor(right.y(), rolled));
  expect_caught(other);
}

TEST(ConvolutionRules, HoldBatchesOfNoneAndRefuseOtherGeometries) {
  const Plane plane{1, 2, 2, 3, 3, 3, 1, 1, 1, 1};
  Arguments arguments = plane.geometry();
  arguments["input"] = tensor({0, 2, 3, 3}, {});
  arguments["weight"] = tensor(plane.w(), Numbers(36, 1.0));
  EXPECT_EQ(standing_of(call_of("convolution", arguments, {tensor({0, 2, 3, 3}, {})})).elements, 0);
  arguments["input"] = tensor(plane.x(), Numbers(18, 1.0));
  const View y = tensor(plane.y(), Numbers(18, 1.0));
  const std::pair<const char*, Argument> odd[] = {{"stride", Sizes{0, 0}},
                                                  {"stride", Sizes{1, 1, 1}},
                                                  {"dilation", Sizes{0, 1}},
                                                  {"padding", Sizes{std::int64_t{1} << 62, 1}},
                                                  {"groups", 0},
                                                  {"groups", 5},
                                                  {"weight", vector_of({1, 2})},
                                                  {"input", vector_of({1, 2})}};
  for (const auto& [name, value] : odd) {
    Arguments other = arguments;
    other[name] = value;
    EXPECT_THROW(standing_of(call_of("convolution", other, {y})), NotJudged) << name;
  }
  EXPECT_THROW(standing_of(call_of("convolution", arguments, {vector_of({1})})), NotJudged);
}

}  // namespace
}  // namespace tally::oracle::operations::convolution_test
