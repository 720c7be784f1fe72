#include "properties/generators/launch_designs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kernels/training_step/run/run.hpp"
#include "properties/campaign/coverage/coverage.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/generators/random_plan.hpp"

namespace tally::launch_designs_test {
namespace {

Plan designed(Dtype storage, std::uint64_t number, void (*design)(Plan&) = design_launches) {
  Plan plan = random_plan(storage)(rc::Random(5), rc::kNominalSize).value();
  plan.seed = number;
  design(plan);
  return plan;
}

/// Of features, and of tokens.
std::vector<Case> all_designed(Dtype storage) {
  std::vector<Case> cases;
  for (std::uint64_t number = 0; number < launch_designs; ++number) cases.push_back(case_of(designed(storage, number)));
  for (std::uint64_t number = 0; number < look_up_designs; ++number)
    cases.push_back(case_of(designed(storage, number, design_look_ups)));
  for (std::uint64_t number = 0; number < head_designs; ++number)
    cases.push_back(case_of(designed(storage, number, design_head)));
  for (std::uint64_t number = 0; number < residual_norm_designs; ++number)
    cases.push_back(case_of(designed(storage, number, design_residual_norms)));
  for (std::uint64_t number = 0; number < attention_designs; ++number)
    cases.push_back(case_of(designed(storage, number, design_attention)));
  for (std::uint64_t number = 0; number < rank_designs; ++number)
    cases.push_back(case_of(designed(storage, number, design_ranks)));
  for (std::uint64_t number = 0; number < micro_step_designs; ++number)
    cases.push_back(case_of(designed(storage, number, design_micro_steps)));
  return cases;
}

/// Kernels that a law launches by itself (properties/laws/norms_count_every_element.cpp), and more tensors than a
/// launch takes (properties/laws/norm_spans_launches.cpp); and steps of two windows (properties/laws/update/passes.cpp).
bool is_another_laws(const LaunchPath& path) {
  if (path.kernel.starts_with("sam/") || path.kernel.starts_with("sam_coefficient/")) return true;
  return path.kernel.starts_with("norm/") || path.kernel.starts_with("unscale_check_norm/") ||
         path.way.ends_with("several launches");
}

TEST(LaunchDesigns, TakeEveryKernelThroughEveryWayInEachPrecision) {
  std::set<LaunchPath> left = launch_paths_of(ExecutorKind::host);
  const std::set<LaunchPath> declared = left;
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (const Case& c : all_designed(storage)) {
      const LaunchScope scope;
      run(c);
      for (const LaunchPath& path : scope.paths()) {
        EXPECT_TRUE(declared.contains(path)) << "undeclared: " << name_of_path(path);
        left.erase(path);
      }
      if (HasFailure()) return;
    }
  }
  std::erase_if(left, is_another_laws);
  for (const LaunchPath& path : left) ADD_FAILURE() << "not taken: " << name_of_path(path);
  EXPECT_GE(declared.size(), 500u);
}

TEST(LaunchDesigns, DrawWideNormsAndManyFeaturesInEveryPrecision) {
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    std::int64_t widest = 0;
    for (std::uint64_t number = 0; number < launch_designs; ++number)
      widest = std::max(widest, designed(storage, number).hidden.front().integer("out"));
    EXPECT_GE(widest, 768);
  }
}

/// Else a default run shows some ways of a launch by luck alone, and fails where it has none.
TEST(LaunchDesigns, ARunAtEffortOneDrawsThemAll) {
  const std::map<std::string, std::uint64_t> designs{{"every_launch_path_keeps_its_bound", launch_designs},
                                                     {"every_attention_keeps_its_bound", attention_designs},
                                                     {"every_look_up_keeps_its_bound", look_up_designs},
                                                     {"a_head_in_chunks_keeps_its_bound", head_designs},
                                                     {"a_norm_takes_its_sum_along", residual_norm_designs},
                                                     {"declared_order_between_ranks", rank_designs},
                                                     {"shared_statistics_keep_their_bound", micro_step_designs},
                                                     {"a_second_pass_steps_from_kept_weights", 18}};
  for (const auto& [law, count] : designs)
    EXPECT_GE(static_cast<std::uint64_t>(cases_drawn(*find_law(law), 1)), count) << law;
}

}  // namespace
}  // namespace tally::launch_designs_test
