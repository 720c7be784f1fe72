#include "properties/laws/pipeline/pipelines.hpp"

#include <utility>

#include "oracle/case/micro_steps.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/generators/pipeline_plan.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/shapes.hpp"

namespace tally {

void pipelined_on_ranks(Plan& plan) {
  const bool on_ranks = plan.seed / 8 % 3 == 0;
  if (on_ranks) at_least_micro_batches(plan, 4);  // the order of a sum tells where three ranks or more have some
  pipelined(plan);
  if (!on_ranks) return;
  dealt_to_ranks(plan);
  plan.ranks = 2 + plan.ranks % 3;
  keep_ranks(plan);
  communicate(plan, "window");
  share(plan, plan.seed / 64 % 2 == 0 ? "optimizer" : "none");
  for (const char* key : {"offload", "statistics"}) set_rank_option(plan.execution, key, standard_rank_option(key));
  for (Layer& layer : plan.hidden)
    if (takes_step_statistics(layer)) layer.options["statistics"] = std::string("micro_batch");
}

Case without_stages(Case c) {
  for (const char* key :
       {"pipeline.stages", "pipeline.cut", "pipeline.chunks", "pipeline.schedule", "pipeline.backward"})
    c = with_rank_option(std::move(c), key, standard_rank_option(key));
  return c;
}

std::vector<Case> by_every_schedule(const Case& c) {
  std::vector<Case> all{c};
  if (chunks_of(c) > 1) return all;
  for (const auto& [schedule, backward] : {std::pair{"gpipe", "fifo"}, {"gpipe", "lifo"}, {"1f1b", "fifo"}}) {
    Case other = with_rank_option(c, "pipeline.schedule", std::string(schedule));
    other = with_rank_option(std::move(other), "pipeline.backward", std::string(backward));
    if (!(other == c)) all.push_back(std::move(other));
  }
  return all;
}

}  // namespace tally
