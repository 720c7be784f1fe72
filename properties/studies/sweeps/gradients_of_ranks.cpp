#include "properties/studies/sweeps/gradients_of_ranks.hpp"

#include <algorithm>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/training_step/run.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/compare/lens.hpp"
#include "properties/generators/plan.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/studies/evidence/clean_case.hpp"

namespace tally {
namespace {

/// Where fp32 stands throughout: the figure speaks of its roundings.
Plan plan_of(std::uint64_t seed, int ranks) {
  Plan plan = drawn_plan(Dtype::fp32, seed);
  plan.precision = {};
  plan.execution = {};
  plan.normalisation = Normalisation::window_items;
  plan.empty_micro_batch = false;
  plan.data = Data::ordinary;
  freeze_batch_norm(plan);
  plan.windows = {std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 2)};
  plan.ranks = ranks;
  set_rank_option(plan.execution, "reduce.algorithm", std::string("ring"));
  return plan;
}

bool is_shallow(const Plan& plan) { return std::ranges::count(plan.hidden, "linear", &Layer::kind) < 2; }

bool is_gradient(const TensorCheck& check) {
  return check.lens == "end_to_end" && check.tap.starts_with("w0/") && check.stage == "unscale" &&
         check.tap.find("/unscale/d.") != std::string::npos;
}

}  // namespace

HeldGradients gradients_of_ranks(std::uint64_t seed, int ranks, std::uint64_t cases) {
  executor::Schedule random(seed);
  HeldGradients all;
  for (std::uint64_t made = 0; made < cases;) {
    const Plan plan = plan_of(random.next(), ranks);
    if (!is_shallow(plan)) continue;
    ++made;
    const Case c = case_of(plan);
    for (const TensorCheck& check : end_to_end_lens(c, run(c))) {
      if (!is_gradient(check)) continue;
      ++all.gradients;
      all.informative += check.status == Status::pass;
      all.failed += check.status == Status::fail;
    }
  }
  return all;
}

}  // namespace tally
