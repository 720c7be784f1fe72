// A parameter that two owners share is counted twice in the norm.
#include <vector>

#include "properties/faults/planted_norm.hpp"
#include "properties/faults/planted_place.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::clip_duplicate_count_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  std::vector<NormSource> sources{{drawn_parameter(run).unscaled.as<float>(), drawn_parameter(run).elements}};
  for (Parameter& each : run.parameters) sources.push_back({each.unscaled.as<float>(), each.elements});
  norm_over(run, sources);
}

const RegisterFault registered{{
    .name = "clip-duplicate-count",
    .stage = "norm",
    .right = "every parameter once",
    .wrong = "one of them twice",
    .condition = "an active clip; the parameter is drawn",
    .knob = "value",
    .source = "NeMo-RL PR 3788, Megatron-LM 5c8238c343",
    .laws = {"every_norm_clips", "clip_once_after_unscale", "norm_spans_launches"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::clip_duplicate_count_fault
