#include "properties/compare/lens.hpp"

#include "tests/properties/compare/lens_cases.hpp"

namespace tally {
namespace {

void expect_clean(const Case& c, const RunOptions& options, const std::string& what) {
  const Trace trace = run(c, options);
  const auto local = local_lens(c, trace), end_to_end = end_to_end_lens(c, trace);
  EXPECT_EQ(first_failure(local), nullptr) << what << " " << told(first_failure(local));
  EXPECT_EQ(first_failure(end_to_end), nullptr) << what << " " << told(first_failure(end_to_end));
  EXPECT_EQ(count(local, Status::not_run), 0u) << what << " " << missing(local);
  EXPECT_EQ(count(end_to_end, Status::not_run), 0u) << what << " " << missing(end_to_end);
  std::printf("  %-30s local %zu checks, %llu vacuous, worst %.3f; end to end %zu, %llu vacuous, worst %.3f\n",
              what.c_str(), local.size(), static_cast<unsigned long long>(count(local, Status::vacuous)),
              worst_ratio(local), end_to_end.size(),
              static_cast<unsigned long long>(count(end_to_end, Status::vacuous)), worst_ratio(end_to_end));
}

const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

TEST(Lenses, PassCleanRunsOfASmallNetworkInEveryOrder) {
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
      RunOptions options;
      options.order_seed = seed - 1;
      expect_clean(normal_case(seed, storage), options, "small " + std::string(name_of(storage)));
    }
  }
}

TEST(Lenses, PassCleanRunsOfEveryLayerAndStage) {
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
      RunOptions options;
      options.order_seed = seed;
      expect_clean(normal_everything(seed, storage), options, "everything " + std::string(name_of(storage)));
    }
  }
}

TEST(Lenses, PassACleanMlp) {
  for (const Dtype storage : formats) expect_clean(mlp(3, storage), {}, "mlp " + std::string(name_of(storage)));
}

}  // namespace
}  // namespace tally
