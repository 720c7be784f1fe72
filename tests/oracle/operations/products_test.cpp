#include "oracle/operations/products.hpp"

#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::products_test {
namespace {

struct Shape {
  std::int64_t batches, m, n, k;
};

/// alpha a b + beta c of batches of matrices [m, k] and [k, n], by a machine's sum of products.
template <class F>
Floats product(const Shape& s, const Numbers& a, const Numbers& b, F f) {
  Floats all;
  for (std::int64_t batch = 0; batch < s.batches; ++batch)
    for (std::int64_t i = 0; i < s.m; ++i)
      for (std::int64_t j = 0; j < s.n; ++j) {
        Floats row, column;
        for (std::int64_t p = 0; p < s.k; ++p) {
          row.push_back(static_cast<float>(a[static_cast<std::size_t>((batch * s.m + i) * s.k + p)]));
          column.push_back(static_cast<float>(b[static_cast<std::size_t>((batch * s.k + p) * s.n + j)]));
        }
        all.push_back(f(row, column, j));
      }
  return all;
}

TEST(ProductRules, HoldProductsOfMatricesInAnyOrder) {
  std::mt19937_64 random(1);
  Held matrices, onto, linears;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const Shape s : {Shape{1, 3, 5, 1}, Shape{2, 2, 3, 40}, Shape{1, 3, 17, 129}})
        for (const Order order : orders) {
          const Data second = data == Data::huge ? Data::tiny : data;  // no overflow
          const Numbers a = drawn(data, s.batches * s.m * s.k, element, random),
                        b = drawn(second, s.batches * s.k * s.n, element, random), c = drawn(s.n, random, element);
          const View self = tensor({s.batches, s.m, s.k}, a, element), mat2 = tensor({s.batches, s.k, s.n}, b, element);
          const auto plain = [&](const Floats& x, const Floats& y, std::int64_t) { return dot(x, y, order, random); };
          matrices.add(call_of("bmm", {{"self", self}, {"mat2", mat2}},
                               {tensor({s.batches, s.m, s.n}, stored(element, product(s, a, b, plain)), element)}));
          const float alpha = order == Order::lanes ? 1 : 0.3f, beta = order == Order::pairwise ? 1 : -1.7f;
          const auto scaled = [&](Floats x, const Floats& y, std::int64_t j) {
            const auto start = static_cast<float>(c[static_cast<std::size_t>(j)]);
            if (order != Order::forwards) return std::fma(beta, start, alpha * dot(x, y, order, random));
            float sum = beta * start;
            for (std::size_t p = 0; p < x.size(); ++p) sum += alpha * (x[p] * y[p]);
            return sum;
          };
          onto.add(call_of("baddbmm",
                           {{"self", vector_of(c, element)},
                            {"batch1", self},
                            {"batch2", mat2},
                            {"alpha", static_cast<double>(alpha)},
                            {"beta", static_cast<double>(beta)}},
                           {tensor({s.batches, s.m, s.n}, stored(element, product(s, a, b, scaled)), element)}));
          if (s.batches > 1) continue;
          const auto biased = [&](const Floats& x, const Floats& y, std::int64_t j) {
            return dot(x, y, order, random) + static_cast<float>(c[static_cast<std::size_t>(j)]);
          };
          linears.add(call_of("linear",
                              {{"input", self.selected(0, 0)},
                               {"weight", mat2.selected(0, 0).permuted({1, 0})},
                               {"bias", vector_of(c, element)}},
                              {tensor({s.m, s.n}, stored(element, product(s, a, b, biased)), element)}));
        }
  matrices.report("bmm");
  onto.report("baddbmm");
  linears.report("linear");
}

TEST(ProductRules, AreReachedByProductsThatAreLost) {
  for (const std::int64_t k : {65, 1025}) {
    Numbers a(static_cast<std::size_t>(k), 1.0);
    a[0] = 0x1p24;
    const View x = tensor({1, k}, a), y = tensor({k, 1}, Numbers(static_cast<std::size_t>(k), 1.0));

    const Standing standing = standing_of(call_of("mm", {{"self", x}, {"mat2", y}}, {tensor({1, 1}, {0x1p24})}));

    EXPECT_EQ(standing.wrong, 0) << standing.first;
    EXPECT_GT(standing.r, 0.98);
  }
}

TEST(ProductRules, DemandProductsOfSmallWholeNumbersToTheBit) {
  const View x = tensor({1, 3}, {1000, -7, 12}), y = tensor({3, 1}, {3, 5, -9});
  const Arguments arguments{{"self", x}, {"mat2", y}};

  EXPECT_EQ(standing_of(call_of("mm", arguments, {tensor({1, 1}, {2857})})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("mm", arguments, {tensor({1, 1}, {2857 + 0x1p-12})})).wrong, 1);
}

/// What a profile claims of the operands and of the sums holds for whole numbers too.
TEST(ProductRules, CutWholeNumbersWhereTheProfileSaysSo) {
  const View x = tensor({1, 1}, {0x1p12 + 1}), y = tensor({1, 1}, {1});
  const Call cut = call_of("mm", {{"self", x}, {"mat2", y}}, {tensor({1, 1}, {0x1p12})});
  const View ones = tensor({1, 300}, Numbers(300, 1.0), Element::bfloat16);
  const Call lost =
      call_of("mm", {{"self", ones}, {"mat2", ones.permuted({1, 0})}}, {tensor({1, 1}, {256}, Element::bfloat16)});

  EXPECT_EQ(standing_of(cut, {"", {{"mm/float32/tf32", 1}}}).wrong, 0);
  EXPECT_EQ(standing_of(cut).wrong, 1);
  EXPECT_EQ(standing_of(lost, {"", {{"mm/bfloat16/adds_in_storage", 1}}}).wrong, 0);
  EXPECT_EQ(standing_of(lost).wrong, 1);
}

TEST(ProductRules, SeeWrongProducts) {
  std::mt19937_64 random(2);
  const Shape s{1, 8, 8, 32};
  const Numbers a = drawn(s.m * s.k, random), b = drawn(s.k * s.n, random), c = drawn(s.n, random);
  const auto judged = [&](auto f) {
    const View out = tensor({s.m, s.n}, stored(Element::float32, product(s, a, b, f)));
    return call_of("addmm",
                   {{"self", vector_of(c)},
                    {"mat1", tensor({s.m, s.k}, a)},
                    {"mat2", tensor({s.k, s.n}, b)},
                    {"alpha", 0.5},
                    {"beta", 2.0}},
                   {out});
  };
  const auto bias = [&](std::int64_t j) { return static_cast<float>(c[static_cast<std::size_t>(j)]); };
  const auto cut = [](float x) {
    constexpr float keep = 0x1p13f + 1;  // ten bits behind the first, as Veltkamp splits a float
    const float big = keep * x;
    return big - (big - x);
  };
  const auto right = [&](const Floats& x, const Floats& y, std::int64_t j) {
    return 0.5f * dot(x, y, Order::forwards, random) + 2 * bias(j);
  };
  EXPECT_EQ(standing_of(judged(right)).wrong, 0);
  expect_caught(judged([&](Floats x, Floats y, std::int64_t j) {  // operands of TF32
    for (float& each : x) each = cut(each);
    for (float& each : y) each = cut(each);
    return right(x, y, j);
  }));
  expect_caught(judged([&](const Floats& x, const Floats& y, std::int64_t j) {  // sums in bf16
    float sum = 0;
    for (std::size_t p = 0; p < x.size(); ++p) sum = rounded_to(Element::bfloat16, sum + x[p] * y[p]);
    return 0.5f * sum + 2 * bias(j);
  }));
  expect_caught(judged([&](Floats x, Floats y, std::int64_t j) {  // a tail of k
    x.pop_back();
    y.pop_back();
    return right(x, y, j);
  }));
  expect_caught(judged([&](const Floats& x, const Floats& y, std::int64_t j) {  // alpha over both
    return 0.5f * (dot(x, y, Order::forwards, random) + 2 * bias(j));
  }));
  expect_caught(judged([&](const Floats& x, const Floats& y, std::int64_t j) {  // its neighbour's bias
    return 0.5f * dot(x, y, Order::forwards, random) + 2 * bias((j + 1) % s.n);
  }));
}

TEST(ProductRules, HoldGroupsOfRows) {
  std::mt19937_64 random(3);
  const Shape s{1, 3, 4, 16};
  const Numbers a = drawn(2 * s.m * s.k, random), b = drawn(2 * s.k * s.n, random);
  const auto f = [&](const Floats& x, const Floats& y, std::int64_t) { return dot(x, y, Order::lanes, random); };
  Numbers out = stored(Element::float32, product({2, s.m, s.n, s.k}, a, b, f));
  const Arguments arguments{{"self", tensor({2 * s.m, s.k}, a)},
                            {"mat2", tensor({2, s.k, s.n}, b)},
                            {"offs", vector_of({3, 6}, Element::int32)}};
  EXPECT_EQ(standing_of(call_of("_grouped_mm", arguments, {tensor({2 * s.m, s.n}, out)})).wrong, 0);
  std::rotate(out.begin(), out.begin() + s.n, out.end());  // a row of the other group's weights
  expect_caught(call_of("_grouped_mm", arguments, {tensor({2 * s.m, s.n}, out)}));
}

TEST(ProductRules, HoldEmptyProductsAndRefuseOthers) {
  const View none = tensor({2, 0}, {}), other = tensor({0, 3}, {}), x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto mm = [](const View& a, const View& b, const View& out) {
    return call_of("mm", {{"self", a}, {"mat2", b}}, {out});
  };

  EXPECT_EQ(standing_of(mm(none, other, tensor({2, 3}, Numbers(6, 0.0)))).wrong, 0);
  EXPECT_EQ(standing_of(mm(none, other, tensor({2, 3}, Numbers(6, 1.0)))).wrong, 6);
  EXPECT_EQ(standing_of(mm(tensor({0, 3}, {}), x.permuted({1, 0}), tensor({0, 2}, {}))).elements, 0);
  EXPECT_THROW(standing_of(mm(x, x, x)), NotJudged);
  EXPECT_THROW(standing_of(mm(x, x.permuted({1, 0}), vector_of({1, 2, 3}))), NotJudged);
  EXPECT_THROW(standing_of(mm(x, tensor({3, 0}, {}), x)), NotJudged);
  EXPECT_THROW(standing_of(call_of("linear", {{"input", x}, {"weight", vector_of({1, 2, 3})}}, {x})), NotJudged);
}

}  // namespace
}  // namespace tally::oracle::operations::products_test
