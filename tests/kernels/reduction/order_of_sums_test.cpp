// The order of additions that a kernel claims, held against the additions that its kernel is measured to do: a claim of
// fewer fails, and so does one of more, where the order is fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "kernels/reduction/welford.hpp"
#include "oracle/tolerance/summation.hpp"
#include "tests/kernels/reduction/kernel_sums.hpp"

namespace tally::order_of_sums_test {
namespace {

const KernelClaim& claim_of(const std::string& operation, const std::string& variant) {
  return find_kernel(operation, ExecutorKind::host, variant).claim;
}

bool by_welford(const KernelClaim& claim) { return claim.algorithm == "welford"; }

/// Around every launch edge: lanes of 8 from 64 rows on, a warp from 33 elements on, chunks of 16, blocks of 256.
constexpr std::size_t counts[] = {1, 2, 3, 5, 16, 17, 31, 32, 33, 34, 63, 64, 65, 73, 97, 130, 257};

/// The largest over addends at the ends and in the middle.
std::size_t most_additions(const MeasuredSum& sum, std::size_t n) {
  std::size_t most = 0;
  for (const std::size_t i : {std::size_t{0}, n / 2, n - 1}) {
    if (i < n) most = std::max(most, additions_passed(sum, n, i));
  }
  return most;
}

class SumOfAKernel : public testing::TestWithParam<KernelSum> {};

TEST_P(SumOfAKernel, AddsInTheOrderThatItsKernelClaims) {
  const KernelSum& sum = GetParam();
  std::size_t measured_sums = 0;
  for (const std::string& variant : every_variant(sum.operation.c_str())) {
    const KernelClaim& claim = claim_of(sum.operation, variant);
    if (by_welford(claim)) continue;  // below
    for (const std::size_t n : counts) {
      if (n < sum.least) continue;
      const MeasuredSum measured = [&](const Addends& addends) { return sum.of(variant, addends); };
      EXPECT_EQ(static_cast<double>(most_additions(measured, n)), additions_of(claim.additions, static_cast<double>(n)))
          << n << " addends by " << variant;
      ++measured_sums;
    }
  }
  EXPECT_GT(measured_sums, 0u);
}

/// The bounds charge every addend for the additions at its own place.
TEST_P(SumOfAKernel, PassesNoAddendThroughMoreAdditionsThanItsPlaceHas) {
  const KernelSum& sum = GetParam();
  std::size_t measured_sums = 0;
  for (const std::string& variant : every_variant(sum.operation.c_str())) {
    const KernelClaim& claim = claim_of(sum.operation, variant);
    if (by_welford(claim)) continue;
    const std::size_t n = 71;
    const MeasuredSum measured = [&](const Addends& addends) { return sum.of(variant, addends); };
    for (std::size_t i = 0; i < n; i += 7) {
      std::vector<double> one(n, 0);
      one[i] = 1;
      // Where every addition may double, an addend of 1 grows to 2^d.
      const double charged = std::log2(oracle::cost_of(claim.additions, 1, one).growth + 1);
      EXPECT_LE(static_cast<double>(additions_passed(measured, n, i)), charged) << "addend " << i << " by " << variant;
      ++measured_sums;
    }
  }
  EXPECT_GT(measured_sums, 0u);
}

TEST_P(SumOfAKernel, DeclaresAnOrderInEveryVariant) {
  const auto variants = every_variant(GetParam().operation.c_str());
  ASSERT_FALSE(variants.empty());
  for (const std::string& variant : variants) {
    EXPECT_FALSE(claim_of(GetParam().operation, variant).additions.empty()) << variant;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, SumOfAKernel, testing::ValuesIn(kernel_sums()), [](const auto& it) {
  std::string name = it.param.operation + "_" + it.param.sum;
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == ' '; }, '_');
  return name;
});

/// Every order that is claimed belongs to a sum that is measured.
TEST(OrdersOfSums, AreMeasuredWhereverOneIsClaimed) {
  const auto sums = kernel_sums();
  std::size_t claimed = 0;
  for (const RegisteredKernel* kernel : registered_kernels()) {
    if (kernel->claim.additions.empty() || kernel->claim.variant.starts_with('~')) continue;
    EXPECT_TRUE(std::ranges::any_of(sums, [&](const KernelSum& sum) { return sum.operation == kernel->operation; }))
        << kernel->operation << " by " << kernel->claim.variant;
    ++claimed;
  }
  EXPECT_GT(claimed, 0u);
}

using Sizes = std::vector<std::size_t>;

std::size_t all_of(const Sizes& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}); }

/// Where the chunks of all tensors begin.
Sizes chunks_of(const Sizes& sizes) {
  Sizes places;
  std::size_t first = 0;
  for (const std::size_t size : sizes) {
    for (std::size_t place = 0; place < size; place += norm_chunk) places.push_back(first + place);
    first += size;
  }
  return places;
}

/// Addends that the first one of chunk `c` meets apart: its thread's next ones, those of other threads at distances
/// that double, and chunks: all of them, or at distances that double and of the same thread.
Sizes landmarks(const Sizes& sizes, std::size_t c, bool all_chunks) {
  const Sizes chunks = chunks_of(sizes);
  Sizes places;
  for (std::size_t step = 1; step < norm_chunk; step += step < 256 ? step : 256) {
    const std::size_t place = chunks[c] + step, end = c + 1 < chunks.size() ? chunks[c + 1] : all_of(sizes);
    if (place < end) places.push_back(place);
  }
  for (std::size_t step = 1; step < chunks.size(); step += all_chunks ? 1 : step < 256 ? step : 256) {
    places.push_back(chunks[(c + step) % chunks.size()]);
  }
  return places;
}

class NormOverTensors : public OfEveryVariant {
 protected:
  /// The most additions of the first elements of some chunks, by default of three.
  double measured(const Sizes& sizes, std::size_t of_chunks = 3) const {
    const MeasuredSum sum = [&](const Addends& addends) {
      return norm_over("norm", variant(), NormKind::one, sizes, plain(addends));
    };
    const Sizes chunks = chunks_of(sizes);
    std::size_t most = 0;
    for (std::size_t c = 0; c < std::min(chunks.size(), of_chunks); ++c) {
      const Sizes among = landmarks(sizes, c, variant() == "atomic_add");
      most = std::max(most, additions_passed(sum, all_of(sizes), chunks[c], among));
    }
    return static_cast<double>(most);
  }
  double claimed(const Sizes& sizes) const {
    const std::vector<double> tensors(sizes.begin(), sizes.end());
    return additions_of(claim_of("norm", variant()).additions, tensors);
  }
};

TEST_P(NormOverTensors, AddsItsTwoStagesAsClaimedAtEverySizeAroundChunks) {
  for (const Sizes& sizes : {Sizes{4095}, Sizes{4096}, Sizes{4097}, Sizes{300, 70}, Sizes{8192, 1, 4097},
                             Sizes{70, 3, 5000}, Sizes(300, 2)}) {
    const double most = measured(sizes), allowed = claimed(sizes);
    EXPECT_LE(most, allowed) << sizes.size() << " tensors, the first of " << sizes[0];
    // Chunks may meet in any order by atomics: a run shows one.
    if (variant() != "atomic_add") {
      EXPECT_EQ(most, allowed) << sizes.size() << " tensors, the first of " << sizes[0];
    }
  }
}

TEST_P(NormOverTensors, AddsAMillionElementsAsClaimed) {
  const Sizes million{1024 * 1024, 1024};
  EXPECT_EQ(measured(million, 1), claimed(million));
  EXPECT_LE(claimed(million), variant() == "atomic_add" ? 23 + 257 : 40);
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
    for (const std::size_t n : counts) {
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
}  // namespace tally::order_of_sums_test
