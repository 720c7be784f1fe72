// The order of additions that a kernel claims, held against the additions that its kernel is measured to do: a claim of
// fewer fails, and so does one of more, where the order is fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "kernels/reduction/welford.hpp"
#include "tests/kernels/reduction/kernel_sums.hpp"

namespace tally {
namespace {

const KernelClaim& claim_of(const std::string& operation, const std::string& variant) {
  return find_kernel(operation, ExecutorKind::host, variant).claim;
}

bool by_welford(const KernelClaim& claim) { return claim.algorithm == "welford"; }

/// Around every launch edge: lanes of 8 from 64 rows on, a warp from 33 elements on, chunks of 16, blocks of 256.
constexpr std::size_t sizes[] = {1,  2,  3,  5,  8,  9,  15, 16, 17, 31,  32, 33,
                                 34, 63, 64, 65, 71, 72, 73, 96, 97, 130, 300};

/// The largest over addends at the ends, in the middle and where lanes, warps and chunks begin and end.
std::size_t most_additions(const MeasuredSum& sum, std::size_t n) {
  std::size_t most = 0;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, n / 2, n - 1}) {
    if (i < n) most = std::max(most, additions_passed(sum, n, i));
  }
  return most;
}

class SumOfAKernel : public testing::TestWithParam<KernelSum> {};

TEST_P(SumOfAKernel, AddsInTheOrderThatItsKernelClaims) {
  const KernelSum& sum = GetParam();
  for (const std::string& variant : every_variant(sum.operation.c_str())) {
    const KernelClaim& claim = claim_of(sum.operation, variant);
    if (by_welford(claim)) continue;  // below
    for (const std::size_t n : sizes) {
      if (n < sum.least) continue;
      const MeasuredSum measured = [&](const Addends& addends) { return sum.of(variant, addends); };
      EXPECT_EQ(static_cast<double>(most_additions(measured, n)), additions_of(claim.additions, static_cast<double>(n)))
          << n << " addends by " << variant;
    }
  }
}

TEST_P(SumOfAKernel, DeclaresAnOrderInEveryVariant) {
  for (const std::string& variant : every_variant(GetParam().operation.c_str())) {
    EXPECT_FALSE(claim_of(GetParam().operation, variant).additions.empty()) << variant;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, SumOfAKernel, testing::ValuesIn(kernel_sums()), [](const auto& info) {
  std::string name = info.param.operation + "_" + info.param.sum;
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == ' '; }, '_');
  return name;
});

/// Every order that is claimed belongs to a sum that is measured.
TEST(OrdersOfSums, AreMeasuredWhereverOneIsClaimed) {
  const auto sums = kernel_sums();
  for (const RegisteredKernel* kernel : registered_kernels()) {
    if (kernel->claim.additions.empty() || kernel->claim.variant.starts_with('~')) continue;
    EXPECT_TRUE(std::ranges::any_of(sums, [&](const KernelSum& sum) { return sum.operation == kernel->operation; }))
        << kernel->operation << " by " << kernel->claim.variant;
  }
}

struct Tensors {
  std::vector<std::size_t> sizes;
  std::size_t all() const {
    std::size_t n = 0;
    for (const std::size_t size : sizes) n += size;
    return n;
  }
};

/// The places of a thread's, a warp's and a chunk's neighbours of element 0, and the first elements of tensors.
std::vector<std::size_t> landmarks(const Tensors& tensors) {
  std::vector<std::size_t> places;
  for (std::size_t place = 1; place < 256; place *= 2) places.push_back(place);
  for (std::size_t place = 256; place < tensors.all(); place += place < 4096 ? 256 : 4096) places.push_back(place);
  std::size_t first = 0;
  for (const std::size_t size : tensors.sizes) places.push_back(first), first += size;
  std::erase_if(places, [&](std::size_t place) { return place >= tensors.all(); });
  return places;
}

class NormOverTensors : public OfEveryVariant {};

TEST_P(NormOverTensors, AddsItsTwoStagesAsClaimedAtEverySizeAroundChunks) {
  const std::vector<std::size_t> many(300, 2), few{70, 3, 5000};
  for (const Tensors& tensors : {Tensors{{4095}}, Tensors{{4096}}, Tensors{{4097}}, Tensors{{9000}}, Tensors{{300, 70}},
                                 Tensors{{8192, 1, 4097}}, Tensors{few}, Tensors{many}}) {
    const MeasuredSum sum = [&](const Addends& addends) {
      return norm_over("norm", variant(), NormKind::one, tensors.sizes, plain(addends));
    };
    std::size_t most = 0, first = 0;
    const std::vector<double> claimed(tensors.sizes.begin(), tensors.sizes.end());
    for (std::size_t t = 0; t < tensors.sizes.size(); first += tensors.sizes[t++]) {
      if (t > 2) continue;
      std::vector<std::size_t> places = landmarks(tensors);
      for (std::size_t& place : places) place = (place + first) % tensors.all();
      most = std::max(most, additions_passed(sum, tensors.all(), first, places));
    }
    EXPECT_EQ(static_cast<double>(most), additions_of(claim_of("norm", variant()).additions, claimed))
        << tensors.sizes.size() << " tensors, the first of " << tensors.sizes[0];
  }
}

TEST_P(NormOverTensors, AddsAMillionElementsAsClaimed) {
  const Tensors million{{1024 * 1024, 1024}};
  const MeasuredSum sum = [&](const Addends& addends) {
    return norm_over("norm", variant(), NormKind::one, million.sizes, plain(addends));
  };
  const double claimed = additions_of(claim_of("norm", variant()).additions, {1024 * 1024, 1024});

  EXPECT_EQ(static_cast<double>(additions_passed(sum, million.all(), 0, landmarks(million))), claimed);
  EXPECT_LE(claimed, variant() == "atomic_add" ? 23 + 257 : 40);
}

INSTANTIATE_TEST_SUITE_P(Variants, NormOverTensors, testing::ValuesIn(every_variant("norm")), variant_name);

/// A sample and the merges that its deepest value has passed through.
struct CountedSample {
  WelfordSample sample;
  std::size_t merges = 0;
  void add(float x) {
    merges += sample.count > 0;
    sample.add(x);
  }
  void add(const CountedSample& other) {
    sample.add(other.sample);
    merges = std::max(merges, other.merges) + 1;
  }
};

/// By the steps of a claim, in lanes whose samples meet in halves.
CountedSample welford_by(const OrderOfSum& order, const std::vector<float>& x) {
  std::vector<CountedSample> left;
  for (const SumStep& step : order) {
    const auto number = static_cast<std::size_t>(step.number);
    const bool in_order = step.kind == SumStep::in_order_below && x.size() < number;
    if (left.empty() && (in_order || step.kind == SumStep::lanes)) {
      left.resize(in_order ? 1 : std::min(number, x.size()));
      for (std::size_t i = 0; i < x.size(); ++i) left[i % left.size()].add(x[i]);
    }
    for (; step.kind == SumStep::tree && left.size() > 1; left.resize(left.size() / 2)) {
      for (std::size_t i = 0; i < left.size() / 2; ++i) left[i].add(left[i + left.size() / 2]);
    }
  }
  return left.at(0);
}

/// Merges cannot be measured by what is lost; but another order of them has other bits.
TEST(WelfordOfEveryKernel, HasTheBitsAndTheMergesOfTheOrderThatItClaims) {
  for (const char* operation : {"batch_norm.statistics", "layer_norm.forward"}) {
    const OrderOfSum& order = claim_of(operation, "welford").additions;
    for (const std::size_t n : sizes) {
      const std::vector<double> values = drawn(static_cast<std::int64_t>(n));
      const CountedSample counted = welford_by(order, {values.begin(), values.end()});
      const float inverse = 1 / static_cast<float>(n);
      const bool columns = std::string(operation) == "batch_norm.statistics";
      const auto got = columns ? column_moments("welford", values, inverse) : row_moments("welford", values, inverse);
      EXPECT_EQ(static_cast<double>(counted.merges), additions_of(order, static_cast<double>(n))) << n;
      EXPECT_EQ(got[0], counted.sample.mean) << operation << " of " << n;
      const float variance = counted.sample.squares * inverse;
      EXPECT_EQ(got[1], columns ? variance : 1 / std::sqrt(variance)) << operation << " of " << n;
    }
  }
}

}  // namespace
}  // namespace tally
