#include "properties/laws/pipeline/pipelines.hpp"

#include <utility>

#include "oracle/case/pipeline.hpp"
#include "oracle/case/rank_keys.hpp"

namespace tally {

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
