#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/device/gemm/blas.hpp"
#include "kernels/device/half.hpp"

namespace tally::gemm_test {
namespace {

using Kind = GemmOrder::Kind;

std::vector<GemmOrder> orders() {
  return {{Kind::sequential_fma, 0}, {Kind::sequential_mul_add, 0}, {Kind::pairwise, 0}, {Kind::chunked, 1},
          {Kind::chunked, 5},        {Kind::chunked, 64},           {Kind::split_k, 1},  {Kind::split_k, 3},
          {Kind::split_k, 1000}};
}

float fma_run(const std::vector<float>& a, const std::vector<float>& b, std::size_t begin, std::size_t end) {
  float sum = 0;
  for (std::size_t p = begin; p < end; ++p) sum = std::fma(a[p], b[p], sum);
  return sum;
}

float halves(const std::vector<float>& a, const std::vector<float>& b, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return a[begin] * b[begin];
  const std::size_t middle = begin + (end - begin + 1) / 2;
  return halves(a, b, begin, middle) + halves(a, b, middle, end);
}

float by_ends(const std::vector<float>& a, const std::vector<float>& b, const std::vector<std::size_t>& ends) {
  float total = fma_run(a, b, 0, ends[0]);
  for (std::size_t i = 1; i < ends.size(); ++i) total += fma_run(a, b, ends[i - 1], ends[i]);
  return total;
}

/// One element in the documented order, read off kernels/device/gemm/blas.hpp.
float dot(const std::vector<float>& a, const std::vector<float>& b, const GemmOrder& order) {
  const std::size_t k = a.size(), parameter = static_cast<std::size_t>(order.parameter);
  if (k == 0) return 0;
  std::vector<std::size_t> ends;
  float sum = 0;
  switch (order.kind) {
    case Kind::sequential_fma:
      return fma_run(a, b, 0, k);
    case Kind::sequential_mul_add:
      for (std::size_t p = 0; p < k; ++p) sum = sum + a[p] * b[p];
      return sum;
    case Kind::pairwise:
      return halves(a, b, 0, k);
    case Kind::chunked:
      for (std::size_t end = parameter; end < k; end += parameter) ends.push_back(end);
      ends.push_back(k);
      return by_ends(a, b, ends);
    case Kind::split_k:
      for (std::size_t part = 1; part <= std::min(parameter, k); ++part) {
        ends.push_back(part * k / std::min(parameter, k));
      }
      return by_ends(a, b, ends);
    default:  // of tensor cores: tensor_core_test.cpp
      return NAN;
  }
}

template <class S>
struct Problem {
  GemmCall call;
  std::vector<S> a, b;
  std::vector<float> old;

  Problem(std::int64_t m, std::int64_t n, std::int64_t k, int form, std::uint64_t seed) {
    executor::Schedule random(seed);
    const auto draw = [&] {
      return from_float<S>(std::ldexp(static_cast<float>(random.below(1u << 25)) - 0x1p24f, -22));
    };
    for (std::int64_t i = 0; i < m * k; ++i) a.push_back(draw());
    for (std::int64_t i = 0; i < k * n; ++i) b.push_back(draw());
    for (std::int64_t i = 0; i < m * n; ++i) old.push_back(to_float(draw()));
    call = {.transpose_a = (form & 1) != 0,
            .transpose_b = (form & 2) != 0,
            .m = m,
            .n = n,
            .k = k,
            .a = a.data(),
            .b = b.data(),
            .operands = dtype_of_storage<S>(),
            .result = Dtype::fp32,
            .beta = form >> 2 & 1};
  }

  std::vector<float> row(std::int64_t i) const {
    std::vector<float> all;
    for (std::int64_t p = 0; p < call.k; ++p)
      all.push_back(to_float(a[call.transpose_a ? p * call.m + i : i * call.k + p]));
    return all;
  }
  std::vector<float> column(std::int64_t j) const {
    std::vector<float> all;
    for (std::int64_t p = 0; p < call.k; ++p)
      all.push_back(to_float(b[call.transpose_b ? j * call.k + p : p * call.n + j]));
    return all;
  }
};

template <class S, class R>
void expect_order(const Problem<S>& problem, const GemmOrder& order) {
  Stream stream(device(ExecutorKind::host));
  GemmCall call = problem.call;
  call.result = dtype_of_storage<R>();
  std::vector<R> c;
  for (const float value : problem.old) c.push_back(from_float<R>(value));
  const std::vector<R> old = c;
  call.c = c.data();

  gemm(stream, call, order);

  for (std::int64_t i = 0; i < call.m; ++i) {
    for (std::int64_t j = 0; j < call.n; ++j) {
      const auto at = static_cast<std::size_t>(i * call.n + j);
      float sum = dot(problem.row(i), problem.column(j), order);
      if (call.beta == 1) sum = sum + to_float(old[at]);
      const R expected = from_float<R>(sum);
      ASSERT_EQ(std::memcmp(&c[at], &expected, sizeof(R)), 0)  // NOLINT(bugprone-suspicious-memory-comparison): bits
          << to_string(order) << ", " << call.m << " x " << call.n << " x " << call.k << " at " << i << ", " << j;
    }
  }
}

TEST(HostGemm, AddsInTheOrderItIsGivenToTheLastBit) {
  for (const GemmOrder& order : orders()) {
    for (int form = 0; form < 8; ++form) {
      for (const auto& [m, n, k] : {std::tuple{1, 1, 1}, {3, 17, 5}, {4, 16, 8}, {5, 33, 67}, {7, 2, 0}}) {
        expect_order<float, float>(Problem<float>(m, n, k, form, 1), order);
      }
    }
  }
}

TEST(HostGemm, WidensSixteenBitOperandsAndRoundsOnce) {
  for (const GemmOrder& order : orders()) {
    for (int form = 0; form < 8; ++form) {
      expect_order<half, half>(Problem<half>(5, 19, 41, form, 2), order);
      expect_order<half, float>(Problem<half>(5, 19, 41, form, 3), order);
      expect_order<bfloat16, bfloat16>(Problem<bfloat16>(5, 19, 41, form, 4), order);
    }
  }
}

/// |sum - exact| <= n u S / (1 - n u), S the sum of magnitudes: any order of n products, whatever it fuses.
TEST(HostGemm, StaysWithinTheBoundOfAnyOrder) {
  const Problem<float> problem(6, 7, 301, 0, 5);
  for (const GemmOrder& order : orders()) {
    for (std::int64_t i = 0; i < problem.call.m; ++i) {
      const auto a = problem.row(i), b = problem.column(i);
      long double exact = 0, magnitude = 0;
      for (std::size_t p = 0; p < a.size(); ++p) {
        const long double product = static_cast<long double>(a[p]) * b[p];
        exact += product, magnitude += std::fabs(product);
      }
      const long double nu = static_cast<long double>(a.size()) * 0x1p-24L;
      EXPECT_LE(std::fabs(dot(a, b, order) - exact), nu / (1 - nu) * magnitude) << to_string(order);
    }
  }
}

TEST(GemmOrders, AreDrawnFromASeedAndDiffer) {
  std::set<std::string> drawn;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    EXPECT_EQ(to_string(GemmOrder::draw(seed)), to_string(GemmOrder::draw(seed)));
    drawn.insert(to_string(GemmOrder::draw(seed)));
  }

  EXPECT_EQ(to_string(GemmOrder::draw(0)), "sequential_fma");
  for (const char* each : {"sequential_fma", "sequential_mul_add", "pairwise"}) EXPECT_TRUE(drawn.contains(each));
  EXPECT_GT(drawn.size(), 20u);
}

TEST(Gemm, RefusesWhatItsPageExcludes) {
  Stream stream(device(ExecutorKind::host));
  float zero[1] = {};
  const GemmCall good{.m = 1, .n = 1, .k = 1, .a = zero, .b = zero, .c = zero};
  const auto refused = [&](auto change) {
    GemmCall call = good;
    change(call);
    EXPECT_THROW(gemm(stream, call), std::invalid_argument);
  };

  EXPECT_NO_THROW(gemm(stream, good));
  refused([](GemmCall& call) { call.beta = 2; });
  refused([](GemmCall& call) { call.k = -1; });
  refused([](GemmCall& call) { call.operands = Dtype::i64; });
  refused([](GemmCall& call) { call.result = Dtype::fp16; });
  EXPECT_THROW(gemm(stream, good, {Kind::chunked, 0}), std::invalid_argument);
}

}  // namespace
}  // namespace tally::gemm_test
